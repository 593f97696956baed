"""Time arithmetic: working hours, free time, slots, recurring events, invitations. Nothing here
talks to anybody."""
