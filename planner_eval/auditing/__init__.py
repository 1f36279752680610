"""What is doubtful in gold itself: findings about a record's plan, each with its place, reason and confidence."""
