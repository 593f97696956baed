"""Learn what turns sound like from `language/turn_examples.yaml`, and write the shipped model."""

from deskhand.language.turn_cues import MODEL_FILE, train_turn_model

if __name__ == "__main__":
    model = train_turn_model()
    model.save(MODEL_FILE)
    print(f"{MODEL_FILE}: {model.report.accuracy:.1%} of the examples right")  # noqa: T201
