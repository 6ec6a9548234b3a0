"""A generator whose words are given."""


class Scripted:
    """A generator whose first words are given."""

    def __init__(self, words):
        from randomgen import UserBitGenerator

        words = iter(words)
        self.bit_generator = UserBitGenerator(lambda _: next(words), 64)
