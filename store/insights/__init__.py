"""What a store was used for: tokens, cost, sessions and messages by time, model, source, project
and tool."""
