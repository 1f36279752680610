"""What is doubtful in gold itself: findings about a record's plan, with their place, reason and confidence."""
