/** A source of ledgers, results, tokens or log probabilities that cannot be read or does not hold what it should. For people; expected, unlike a defect. */
export class SourceError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SourceError';
  }
}
