/** The outside of a fleet: it outlives all machines, counts what reaches it, and forbids what it was asked about. */
import type { Value } from '@reprise/contracts';
import type { Adapter, AdapterContext, AdapterOutcome, EffectDefinition } from '../../../src/index.js';
import { again, asked, once } from '../../support/lab.js';
import type { Machine } from '../host/machines.js';

/** What has reached the outside for one effect. */
interface Reached {
  /** The number of the opening that executed each attempt, in the order of their arrival. */
  readonly attempts: { readonly attempt: number; readonly epoch: number }[];
  /** Attempts up to this one were declared impossible. */
  forbiddenThrough: number;
}

/** The outside of all machines of a place. */
export class FleetOutside {
  /** What must not happen and did. */
  readonly wrongs: string[] = [];
  readonly #reached = new Map<string, Reached>();

  /** @param worldOf finds the newest epoch of the world that a parameter names */
  constructor(private readonly epochOf: (world: string) => number) {}

  /** How often an effect was executed, by its tag. */
  timesOf(tag: string): number {
    return this.#of(tag).attempts.length;
  }

  /** The adapters of a machine, each of which takes its time. */
  adapters(machine: Machine): readonly Adapter[] {
    return [once, again, asked].map((effect) => this.#adapter(machine, effect));
  }

  #adapter(machine: Machine, effect: EffectDefinition): Adapter {
    return {
      effect: effect as EffectDefinition<Value, Value>,
      name: `outside of ${effect.name}`,
      doExecute: async (params, context) => {
        const { tag, ms } = params as unknown as Call;
        const forbidden = this.#arrives(machine, params as unknown as Call, context);
        await machine.clock.sleep(ms, context.signal);
        return forbidden
          ? { status: 'error', code: 'adapter_error/forbidden' }
          : { status: 'ok', payload: { got: tag } };
      },
      doReconcile: async (params, { attempt }) => {
        const { tag } = params as unknown as Call;
        const reached = this.#of(tag);
        const done = reached.attempts.at(-1);
        if (done !== undefined)
          return { verdict: 'happened', outcome: { status: 'ok', payload: { got: tag } } as AdapterOutcome };
        reached.forbiddenThrough = Math.max(reached.forbiddenThrough, attempt);
        return { verdict: 'cannot_happen' };
      },
    };
  }

  /** An attempt arrives. @returns whether it was forbidden before */
  #arrives(machine: Machine, { tag, world }: Call, { attempt, epoch }: AdapterContext): boolean {
    const reached = this.#of(tag);
    if (attempt <= reached.forbiddenThrough) return true;
    const newest = this.epochOf(world);
    if (epoch !== newest)
      this.wrongs.push(`${machine.name} executes ${tag} for its opening ${epoch}, and the world is at ${newest}`);
    if (reached.attempts.some((known) => known.attempt === attempt))
      this.wrongs.push(`attempt ${attempt} of ${tag} arrives again`);
    reached.attempts.push({ attempt, epoch: epoch ?? 0 });
    return false;
  }

  #of(tag: string): Reached {
    const known = this.#reached.get(tag) ?? { attempts: [], forbiddenThrough: 0 };
    this.#reached.set(tag, known);
    return known;
  }
}

/** The parameters of an effect. */
export interface Call {
  readonly tag: string;
  readonly world: string;
  /** How long it takes, in milliseconds. */
  readonly ms: number;
}
