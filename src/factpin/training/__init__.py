"""The loop that trains every task, and what it needs: optimiser, schedule, checkpoints, data parallel."""
