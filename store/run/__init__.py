"""How a conversation went: its turns, tools, subagents and cost, and what stands out."""
