"""What each fault does to the execution of a job, and which events it leaves: one module a family."""
