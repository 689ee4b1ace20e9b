"""What a reader practises with: quizzes and cards."""
