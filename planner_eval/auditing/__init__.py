"""What is doubtful in gold itself: findings about records, each with place, reason and confidence."""
