/** The services outside that fail, as adapters say: what the operator is told while their effects stay open. */
import { type Address, type ErrorDetail, RepriseError } from '@reprise/contracts';
import type { ServiceFailure } from '../../../ports/adapter/adapter.js';
import { detailOfError, type Scrubber } from '../../../ports/scrub/index.js';
import type { Clock } from '../../../ports/time/clock.js';
import type { ServiceTrouble } from '../../../state/trouble.js';
import type { EffectErrorOrigin, TellTrouble } from '../../dispatch/reported-errors.js';
import { REPORT_AGAIN_MS } from '../write/store-watch.js';

/** How many services are remembered; the one that failed first is forgotten. */
const SERVICES_MAX = 256;

/** The collaborators of a watch. */
interface ServiceWatchParts {
  readonly clock: Clock;
  readonly scrubber: Scrubber;
  now(): number;
  /** Called once for each trouble, when it begins. */
  began(trouble: ServiceTrouble): void;
  /** The list of troubles is another one now. */
  changed(): void;
  readonly report: TellTrouble;
}

interface Failing {
  readonly since: number;
  code: string;
  error: ErrorDetail | undefined;
  /** When a failure was last reported, on the monotonic clock. */
  reportedAt: number;
  /** The cells of the effects that wait for it, by effect. */
  readonly effects: Map<string, Address>;
}

/** Remembers which services fail, from the outcomes of calls. */
export class ServiceWatch {
  readonly #failing = new Map<string, Failing>();

  constructor(private readonly parts: ServiceWatchParts) {}

  /** The services that fail, the oldest trouble first. */
  get troubles(): readonly ServiceTrouble[] {
    return [...this.#failing].map(([where, failing]) => troubleOf(where, failing));
  }

  /** An effect met a service that fails. */
  fails(service: string, { code, error, again }: ServiceFailure, origin: EffectErrorOrigin): void {
    const { clock, scrubber } = this.parts;
    const where = scrubber.scrub(service);
    const known = this.#failing.get(where);
    const failing = known ?? this.#begin(where);
    const isNews = failing.code !== code;
    failing.code = code;
    failing.error = error === undefined ? undefined : detailOfError(error, scrubber);
    if (again) failing.effects.set(origin.effect, origin.cell);
    else failing.effects.delete(origin.effect);
    if (known === undefined) this.parts.began(troubleOf(where, failing));
    else this.parts.changed();
    const isDue = isNews || clock.monotonic() - failing.reportedAt >= REPORT_AGAIN_MS;
    if (again && !isDue) return;
    failing.reportedAt = clock.monotonic();
    // A failure that ends its effect is reported with the effect.
    if (again) this.parts.report(error ?? unknownError(where, code), { ...origin, code });
  }

  works(service: string): void {
    if (this.#failing.delete(this.parts.scrubber.scrub(service))) this.parts.changed();
  }

  /** An effect has ended, and waits no more. */
  ended(effect: string): void {
    for (const { effects } of this.#failing.values()) if (effects.delete(effect)) this.parts.changed();
  }

  #begin(where: string): Failing {
    const [oldest] = this.#failing.keys();
    if (oldest !== undefined && this.#failing.size >= SERVICES_MAX) this.#failing.delete(oldest);
    const failing: Failing = {
      since: this.parts.now(),
      code: '',
      error: undefined,
      reportedAt: this.parts.clock.monotonic(),
      effects: new Map(),
    };
    this.#failing.set(where, failing);
    return failing;
  }
}

function troubleOf(where: string, { since, code, error, effects }: Failing): ServiceTrouble {
  const cells = [...new Map([...effects.values()].map((cell) => [cell.join('\n'), cell])).values()];
  const said = error === undefined ? {} : { error };
  return { kind: 'service_failing', where, code, since, waiting: effects.size, cells, ...said };
}

function unknownError(where: string, code: string): RepriseError {
  return new RepriseError('provider_unreachable', 'a service outside fails', { where, actual: code });
}
