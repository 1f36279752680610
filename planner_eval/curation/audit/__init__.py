"""What is doubtful in gold: findings about a record's plan, each with its place, reason and confidence."""
