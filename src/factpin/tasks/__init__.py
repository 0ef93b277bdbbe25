"""What is asked: how annotation becomes cells to score, and how scored cells become spans and facts. No torch."""
