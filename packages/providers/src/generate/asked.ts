/** What the receipt of a model call says of the call itself, for every client in the same words. */
import { type AskedModel, present, startOfText } from '@reprise/contracts';
import type { AdapterContext } from '@reprise/kernel';
import type { ModelClient, ModelNote } from '../model/model.js';

/** The most characters of a name that a receipt holds. */
const NAME_MAX = 128;

/** The most characters of a host name that a receipt holds. */
const SERVER_MAX = 256;

/** Whom a client asks, as receipts hold it: names that are too long are cut. */
export function askedOf({ profile, server }: Pick<ModelClient, 'profile' | 'server'>): AskedModel {
  return {
    profile: startOfText(profile.profile_id, NAME_MAX),
    model: startOfText(profile.model_default, NAME_MAX),
    ...present({ provider: named(profile.provider, NAME_MAX), server: named(server, SERVER_MAX) }),
  };
}

function named(text: string | undefined, most: number): string | undefined {
  return text === undefined || text === '' ? undefined : startOfText(text, most);
}

/** Notes when a client's answer begins, by the clock of the world. */
export class FirstChunk {
  readonly #begun: number | undefined;
  #began = false;

  constructor(private readonly context: Pick<AdapterContext, 'now' | 'observe'>) {
    this.#begun = context.now?.();
  }

  /** Takes a note of the client: its first piece is the beginning, and each attempt of the transport has one. */
  take({ type }: ModelNote): void {
    if (type === 'delta.reset') this.#began = false;
    if (type !== 'delta' || this.#began) return;
    this.#began = true;
    const now = this.context.now?.();
    if (now === undefined || this.#begun === undefined) return;
    this.context.observe?.({ first_chunk_ms: Math.max(0, now - this.#begun) });
  }
}
