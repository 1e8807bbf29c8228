/** The blocks of values that are here: asked for in the order of what is in sight, kept within bounds. */

import type { Values } from "../api/tensor";
import type { Block } from "./sheet";

type Load = (index: string, signal: AbortSignal) => Promise<Values>;

const AT_ONCE = 4;
const MOST_BYTES = 24 << 20;

export class BlockStore {
  /** The error of the last question, if it failed; with it nothing is asked until `retry`. */
  error: Error | null = null;
  private readonly kept = new Map<string, Values>(); // the last used one last
  private readonly coming = new Map<string, AbortController>();
  private readonly listeners = new Set<() => void>();
  private bytes = 0;
  private wanted: readonly Block[] = [];
  private version = 0;

  constructor(
    private readonly load: Load,
    private readonly mostBytes = MOST_BYTES,
  ) {}

  /** For `useSyncExternalStore`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly getVersion = (): number => this.version;

  get(key: string): Values | undefined {
    return this.kept.get(key);
  }

  get isEmpty(): boolean {
    return this.kept.size === 0;
  }

  /** What is to be here next, the most urgent first. What is on its way and not among it is given up. */
  want(blocks: readonly Block[]): void {
    this.wanted = blocks;
    const keys = new Set(blocks.map(({ key }) => key));
    for (const [key, control] of this.coming) {
      if (keys.has(key)) continue;
      this.coming.delete(key);
      control.abort();
    }
    for (const { key } of blocks) this.use(key);
    this.pump();
  }

  retry(): void {
    this.error = null;
    this.pump();
    this.tell();
  }

  /** Blocks all at once, for copying: those that are not here are not kept. */
  async all(blocks: readonly Block[], signal: AbortSignal): Promise<Map<string, Values>> {
    const found = new Map<string, Values>();
    for (const { key, index } of blocks) found.set(key, this.kept.get(key) ?? (await this.load(index, signal)));
    return found;
  }

  private pump(): void {
    for (const block of this.wanted) {
      if (this.error || this.coming.size >= AT_ONCE) return;
      if (!this.kept.has(block.key) && !this.coming.has(block.key)) void this.ask(block);
    }
  }

  private async ask({ key, index }: Block): Promise<void> {
    const control = new AbortController();
    this.coming.set(key, control);
    try {
      const values = await this.load(index, control.signal);
      if (control.signal.aborted) return;
      this.keep(key, values);
    } catch (error) {
      if (control.signal.aborted) return;
      this.error = error instanceof Error ? error : new Error(String(error));
    }
    this.coming.delete(key);
    this.pump();
    this.tell();
  }

  private keep(key: string, values: Values): void {
    this.kept.set(key, values);
    this.bytes += values.size;
    const needed = new Set(this.wanted.map((block) => block.key));
    for (const [old, { size }] of this.kept) {
      if (this.bytes <= this.mostBytes) return;
      if (needed.has(old)) continue;
      this.kept.delete(old);
      this.bytes -= size;
    }
  }

  private use(key: string): void {
    const values = this.kept.get(key);
    if (!values) return;
    this.kept.delete(key);
    this.kept.set(key, values);
  }

  private tell(): void {
    this.version += 1;
    for (const listener of this.listeners) listener();
  }
}
