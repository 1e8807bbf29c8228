/**
 * Sends changes in the order in which they were made, one request at a time: what comes while one is on its way goes
 * together in the next. Nothing is dropped; after a failure the rest is still sent.
 */

export class Sender<Change> {
  private waiting: Change[] = [];
  private isSending = false;

  /** `take` says how many of the first ones can go together; `settled` hears when nothing is on its way any more. */
  constructor(
    private readonly send: (changes: Change[]) => Promise<void>,
    private readonly take: (changes: readonly Change[]) => number,
    private readonly settled: () => void = () => {},
  ) {}

  get isBusy(): boolean {
    return this.isSending;
  }

  put(change: Change): void {
    this.waiting.push(change);
    if (!this.isSending) void this.work();
  }

  private async work(): Promise<void> {
    this.isSending = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, Math.max(1, this.take(this.waiting)));
      try {
        await this.send(batch);
      } catch {
        // `send` has told of it; what follows may still be possible
      }
    }
    this.isSending = false;
    this.settled();
  }
}
