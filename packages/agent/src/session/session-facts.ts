/** The facts that a session stated, read from its journal. */
import type { JournalRecord } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import type { Ack, World } from '@reprise/kernel';
import { recordsOf } from '@reprise/kernel/world';
import type { SESSION_FACTS } from '../contracts/facts.js';
import { framesOf } from './run/events.js';
import type { RunPlace } from './run/run.js';

type FactName = keyof typeof SESSION_FACTS;
type FactValue<N extends FactName> = z.infer<(typeof SESSION_FACTS)[N]>;

/** Reads the facts of one session. */
export class SessionFacts {
  constructor(
    private readonly world: World,
    private readonly key: string,
  ) {}

  /** A fact of a command, from the frame that accepted it: from memory when that frame was just written. */
  async ofCommand<N extends FactName>(ack: Ack, name: N, command_id: string): Promise<FactValue<N> | undefined> {
    const records = recordsOf(ack) ?? (await this.#recordsAt(ack.seq));
    return this.#factIn(
      records,
      name,
      (value) => (value as { readonly command_id?: string }).command_id === command_id,
    );
  }

  /** The id of the input that began a run. */
  async inputOf({ seq, number, input }: RunPlace): Promise<string | undefined> {
    if (input !== undefined) return input;
    const records = await this.#recordsAt(seq);
    return this.#factIn(records, 'aos.agent/InputAccepted@1', ({ run }) => run === number)?.command_id;
  }

  /**
   * The number of the run that an input starts or joins, by the facts so far.
   *
   * @param before the id of a command: only what was known before it was taken counts, so a repetition asks for the same
   */
  async numberOf(place: RunPlace, before?: string): Promise<number> {
    const { seq, number } = place;
    const input = await this.inputOf(place);
    let told = number;
    for await (const frame of framesOf(this.world, seq, { follow: false })) {
      if (before !== undefined && this.#takes(frame.records, before)) return told;
      for (const record of frame.records) {
        if (!this.#isOwn(record, 'aos.agent/InputAccepted@1')) continue;
        const { command_id, run, moved_from } = record.value as unknown as FactValue<'aos.agent/InputAccepted@1'>;
        if (command_id === input && (place.input !== undefined || moved_from === number)) told = run;
      }
    }
    return told;
  }

  #takes(records: readonly JournalRecord[], command: string): boolean {
    return (['aos.agent/HostCommandAccepted@1', 'aos.agent/HostCommandRejected@1'] as const).some(
      (name) => this.#factIn(records, name, ({ command_id }) => command_id === command) !== undefined,
    );
  }

  #factIn<N extends FactName>(
    records: readonly JournalRecord[],
    name: N,
    isMeant: (value: FactValue<N>) => boolean,
  ): FactValue<N> | undefined {
    // The reducer's own schema checked the value before it was journaled.
    const values = records.filter((record) => this.#isOwn(record, name)).map(({ value }) => value as never);
    return values.find(isMeant);
  }

  async #recordsAt(seq: number): Promise<readonly JournalRecord[]> {
    for await (const { records } of this.world.frames(seq)) return records;
    return [];
  }

  #isOwn(record: JournalRecord, name: string): record is Extract<JournalRecord, { kind: 'fact' }> {
    return record.kind === 'fact' && record.name === name && record.from?.[1] === this.key;
  }
}
