"""What is doubtful in gold itself: findings about its plans, with place, reason and confidence."""
