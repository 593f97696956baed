"""Values only: what a message, a stage's result, a plan or a run is. Pydantic and the standard
library only."""
