/** What a listener knows of what a session's model is shown: from where on, behind which summary, and what is pinned. */
import type { LlmGenerateParams, Value } from '@reprise/contracts';
import type { SessionState, TranscriptItem } from '../../src/contracts/index.js';

type Fields = Readonly<Record<string, Value>>;

const PINS_MAX = 16;

/** The window of one session. */
export class KnownWindow {
  #from = 0;
  #base: string | undefined;
  /** Set while a summary is written: the item that the window is to begin with. */
  #asked: number | undefined;

  constructor(private readonly key: string) {}

  /** A model is asked. @throws Error when it is shown another window than it may be, or one that cuts a call off */
  requested(params: LlmGenerateParams, items: readonly TranscriptItem[]): void {
    const { window, summarise } = params;
    const shown = [window.from, window.base_ref?.hex].join();
    if (shown !== [this.#from, this.#base].join()) throw this.#wrong(`is shown ${shown}`);
    this.#checkPins(window.pins ?? [], items);
    if (summarise?.to !== this.#asked) throw this.#wrong(`is asked for a summary up to ${summarise?.to}`);
    if (summarise === undefined) return;
    if (params.tool_choice !== 'none') throw this.#wrong('may call tools in a summary');
    if (summarise.to <= window.from || summarise.to > items.length) throw this.#wrong(`drops ${summarise.to} items`);
    const open = openCalls(items.slice(0, summarise.to));
    if (open.length > 0) throw this.#wrong(`cuts ${open[0]} off from its result`);
  }

  /** It stated a fact. */
  fact(name: string, value: Fields): void {
    if (name === 'CompactionStarted') this.#asked = Number(value.to);
    if (name === 'CompactionGaveUp' || name === 'LifecycleChanged') this.#ended(name, value);
    if (name !== 'ContextCompacted') return;
    if (value.to !== this.#asked) throw this.#wrong(`was compacted to ${value.to}, which nobody asked for`);
    this.#from = Number(value.to);
    this.#base = (value.base_ref as unknown as { readonly hex: string }).hex;
    this.#asked = undefined;
  }

  /** A run that ends takes the summary that it waits for with it. */
  #ended(name: string, value: Fields): void {
    if (name !== 'LifecycleChanged' || ['Completed', 'Failed', 'Cancelled'].includes(String(value.to)))
      this.#asked = undefined;
  }

  /** @throws Error when its state says another thing */
  compare({ window, run }: SessionState): void {
    const said = [window.from, window.base_ref?.hex, run?.compacting?.to].join();
    if (said !== [this.#from, this.#base, this.#asked].join()) throw this.#wrong(`holds ${said}`);
  }

  #checkPins(pins: readonly number[], items: readonly TranscriptItem[]): void {
    if (pins.length > PINS_MAX) throw this.#wrong(`keeps ${pins.length} pins`);
    const strange = pins.find((pin) => items[pin]?.role !== 'user');
    if (strange !== undefined) throw this.#wrong(`keeps item ${strange}, which nobody said`);
  }

  #wrong(what: string): Error {
    const { key } = this;
    return new Error(
      `${key} ${what}, where its window is ${this.#from} behind ${this.#base}, asked up to ${this.#asked}`,
    );
  }
}

function openCalls(items: readonly TranscriptItem[]): string[] {
  const open: string[] = [];
  for (const item of items) {
    if (item.role === 'assistant') open.push(...item.calls.map(({ call_id }) => call_id));
    if (item.role === 'tool') open.splice(open.indexOf(item.call_id), 1);
  }
  return open;
}
