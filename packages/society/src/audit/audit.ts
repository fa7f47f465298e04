/** Audits a society: reads the frames of its journal once, and checks again what they say. Nothing is replayed. */

import { RepriseError } from '@reprise/contracts';
import {
  type ContentReader,
  EMPTY_HEAD,
  hostSha256,
  nextHead,
  type ReadonlyStore,
  readFrame,
  type WorldFrame,
} from '@reprise/kernel';
import { requireReadable } from '@reprise/kernel/store';
import { FailedCheck } from './failed.js';
import { HotChainCheck } from './hot-chain.js';
import { KeysCheck } from './keys.js';
import { Lineage, type MadeAgent } from './lineage.js';
import { type AuditCheck, Problems } from './reading.js';
import type { AuditedAgent, AuditReport } from './report.js';
import { RightsCheck } from './rights.js';
import { StatusCheck } from './statuses.js';
import { UseCheck } from './use.js';

/**
 * Audits the society of a world that is opened for reading. It needs no app, no key and no network, reads each frame once
 * and the texts that agents signed, and gives the same report for the same frames. Whether the frames follow from their
 * inputs is another question, which `reprise verify` answers.
 *
 * @throws RepriseError `journal_damaged` when a frame does not belong to its chain
 * @example const { problems } = await auditSociety(await sqlite('office.db').openReadonly())
 */
export async function auditSociety(store: ReadonlyStore): Promise<AuditReport> {
  requireReadable(store, 'auditSociety');
  return auditOf(chainedFrames(store), store.content);
}

/** Audits the society in frames. */
export async function auditOf(frames: AsyncIterable<WorldFrame>, content: ContentReader): Promise<AuditReport> {
  const audit = new Audit();
  let head = EMPTY_HEAD;
  for await (const frame of frames) {
    audit.take(frame);
    head = { seq: frame.seq, digest: frame.head };
  }
  return audit.report(head, content);
}

/** All concerns of an audit, in the order in which they learn from each other. */
class Audit {
  readonly #problems = new Problems();
  readonly #lineage = new Lineage(this.#problems);
  readonly #rights = new RightsCheck(this.#lineage, this.#problems);
  readonly #keys = new KeysCheck(this.#lineage, this.#problems);
  readonly #hot = new HotChainCheck(this.#problems);
  readonly #statuses = new StatusCheck(this.#problems);
  readonly #use = new UseCheck();
  readonly #failed = new FailedCheck();
  readonly #checks: readonly AuditCheck[] = [
    this.#lineage,
    this.#rights,
    this.#keys,
    this.#hot,
    this.#statuses,
    this.#use,
    this.#failed,
  ];

  take({ seq, at, records: all }: WorldFrame): void {
    for (const [i, record] of all.entries()) for (const check of this.#checks) check.take({ record, i, all, seq, at });
  }

  async report(head: AuditReport['head'], content: ContentReader): Promise<AuditReport> {
    await this.#keys.end(content);
    return {
      world: this.#keys.world,
      head,
      people: [...this.#lineage.people].map(([entity_id, made]) => ({ entity_id, made })),
      agents: [...this.#lineage.begun].map(([id, agent]) => this.#agent(id, agent)),
      unused_keys: this.#keys.unused(),
      failed_cells: this.#failed.all(),
      problems: this.#problems.sorted(),
    };
  }

  #agent(id: string, agent: MadeAgent): AuditedAgent {
    const { agent_type, display_name, parent_entity_id, depth, expires_at, declared } = agent.record;
    const { seq, at } = agent.made;
    return {
      ...{ agent_id: id, agent_type, display_name, parent_entity_id, maker: agent.maker ?? 'outside', depth },
      ...{ made: { seq, at }, expires_at, key: this.#keys.keyOf(id, agent), proofs: this.#keys.proofsOf(id), declared },
      rights: this.#rights.changesOf(id),
      refused_rights: this.#rights.refusalsOf(id),
      effective: this.#rights.effective(id),
      links: this.#hot.linksOf(id),
      use: this.#use.useOf(id),
      statuses: this.#statuses.changesOf(id),
      status: this.#statuses.statusOf(id),
    };
  }
}

/** The frames of a store, each checked to belong to the chain. */
async function* chainedFrames({ journal, hash = hostSha256() }: ReadonlyStore): AsyncGenerator<WorldFrame> {
  const last = await journal.head();
  let chain = EMPTY_HEAD;
  for await (const { seq, head, bytes } of journal.read(0, last.seq)) {
    chain = nextHead(chain, bytes, hash);
    if (chain.seq !== seq || chain.digest !== head) throw broken(seq, chain.digest, head);
    const { all: records, ingress } = readFrame(bytes, seq);
    yield { seq, at: ingress.at, head, records };
  }
  if (chain.digest !== last.digest) throw broken(last.seq, chain.digest, last.digest);
}

function broken(seq: number, expected: string, actual: string): RepriseError {
  return new RepriseError('journal_damaged', 'a frame does not belong to the chain of frames', {
    ...{ where: `frame ${seq}`, seq, expected, actual },
    hint: 'The journal was changed after it was written, or its storage is failing. Restore it from a copy.',
  });
}
