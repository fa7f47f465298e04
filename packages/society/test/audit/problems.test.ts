/** What an audit finds in societies that were forged: by an adapter, by a cell of an app, or in the journal itself. */
import { SESSION_REDUCER } from '@reprise/agent';
import type { JournalRecord, Value } from '@reprise/contracts';
import { memory } from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import { openWorld } from 'reprise';
import type { WorldPart } from 'reprise/org';
import { script } from 'reprise/providers';
import { AUDIT_PROBLEMS, type Society, society } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { base64Of, makePair } from '../../src/adapters/ed25519.js';
import { agentIdOfKey } from '../../src/index.js';
import { forgery, lifeOfASociety, reportOf } from '../support/audited.js';
import { changing, type Forger, forgedCopy } from '../support/forged.js';
import { openTo } from '../support/open-senders.js';

const life = lifeOfASociety();
const found = new Set<string>();

/** The codes that an audit finds, each once, in the order of the alphabet. */
async function codesOf(store: Parameters<typeof reportOf>[0]): Promise<readonly string[]> {
  const codes = [...new Set((await reportOf(store)).problems.map(({ code }) => code))].sort();
  for (const code of codes) found.add(code);
  return codes;
}

type Fields = Readonly<Record<string, Value>>;

/** Changes the value of the first event, or the first fact, of a name that a test means. */
function stating(kind: 'event' | 'fact', name: string, change: (value: Fields) => object | undefined): Forger {
  let isDone = false;
  const changed = (value: Value): object | undefined => {
    const given = isDone ? undefined : change(value as Fields);
    if (given === undefined) return undefined;
    isDone = true;
    return { ...(value as Fields), ...given };
  };
  if (kind === 'fact')
    return changing('fact', (record) => {
      const value = record.name === name ? changed(record.value) : undefined;
      return value && { value };
    });
  return changing('event', ({ event }) => {
    const value = event.name === name ? changed(event.value) : undefined;
    return value && { event: { name, value } };
  });
}

/** Several changes of one journal. */
const both =
  (...forgers: readonly Forger[]): Forger =>
  (records, seq) =>
    forgers.reduce((given, forge) => forge(given, seq) ?? given, records);

/** Changes the parameters of the effects, or the payloads of the receipts, that a test means. */
const effects = (name: string, change: (params: Fields, n: number) => object | undefined): Forger => {
  let n = 0;
  return changing('effect', ({ name: kind, params }) => {
    const given = kind === name ? change(params as Fields, n++) : undefined;
    return given && { params: { ...(params as Fields), ...given } };
  });
};

const receipts = (change: (payload: Fields) => object | undefined): Forger =>
  changing('receipt', ({ receipt }) => {
    const payload = (receipt.payload ?? {}) as Fields;
    const given = typeof payload === 'object' ? change(payload) : undefined;
    return given && { receipt: { ...receipt, payload: { ...payload, ...given } as Value } };
  });

/** Lets time pass between the frame of a receipt and what follows. */
function delayed(isMeant: (record: JournalRecord) => boolean): Forger {
  let late = 0;
  return (records) => {
    const [first, ...rest] = records as [JournalRecord & { at: number }, ...JournalRecord[]];
    const shifted = late === 0 ? undefined : [{ ...first, at: first.at + late } as JournalRecord, ...rest];
    if (isMeant(first)) late = 60_000;
    return shifted;
  };
}

describe('an audit of a journal that was forged', () => {
  it('each forged record is found by the code that it breaks, and by no other than follows from it [SOC-54]', async () => {
    const { store, ids } = await life;
    const isBot = ({ agent_id }: Fields) => agent_id === ids.bot;
    const other = { public_key: base64Of(makePair().publicKey) };
    const changed = (name: string, change: (value: Fields) => object | undefined) => stating('fact', name, change);
    const hot = (cause: string, change: object) =>
      changed('society/L1Changed@1', (value) =>
        value.entity_id === ids.bot && value.cause === cause ? change : undefined,
      );
    let nonce: Value = '';
    const cases: readonly (readonly [what: string, Forger, readonly string[]])[] = [
      [
        'another key in all records of the agent',
        both(
          stating('event', 'society/Make@1', (value) => (isBot(value) ? other : undefined)),
          changed('society/Registered@1', (value) => (isBot(value) ? other : undefined)),
          receipts((payload) => (isBot(payload) ? other : undefined)),
        ),
        ['id_not_of_key'],
      ],
      [
        'a made key that the agent is said to have brought',
        stating('event', 'society/Make@1', (value) => (isBot(value) ? { key_ref: null } : undefined)),
        ['key_not_proved'],
      ],
      [
        'another verdict',
        receipts(({ verified }) => (verified === true ? { verified: false, refused: 'signature_invalid' } : undefined)),
        ['key_not_proved', 'verdict_forged'],
      ],
      [
        'a verdict for another world',
        receipts(({ verified }) => (verified === true ? { world: 'f'.repeat(64) } : undefined)),
        ['verdict_forged'],
      ],
      [
        'another challenge',
        receipts((payload) => ('nonce' in payload ? { nonce: 'x' } : undefined)),
        ['challenge_unknown'],
      ],
      [
        'one challenge for two proofs',
        effects('identity.verify@1', (params) => {
          if (params.purpose !== 'node') return undefined;
          if (nonce === '') nonce = params.nonce as Value;
          return { nonce };
        }),
        ['challenge_reused', 'verdict_forged'],
      ],
      [
        'a minute after the challenge',
        delayed((record) => record.kind === 'receipt' && 'nonce' in ((record.receipt.payload ?? {}) as object)),
        ['challenge_late'],
      ],
      [
        'another parent',
        both(
          stating('event', 'society/Make@1', (value) => (isBot(value) ? { parent_entity_id: 'ben' } : undefined)),
          changed('society/Registered@1', (value) => (isBot(value) ? { parent_entity_id: 'ben' } : undefined)),
        ),
        ['parent_forged'],
      ],
      [
        'another depth in the record',
        changed('society/Registered@1', (value) => (isBot(value) ? { depth: 0 } : undefined)),
        ['record_differs'],
      ],
      [
        'wider rights',
        changing('cell_command', ({ command }) => {
          const value = command.value as unknown as Fields;
          const isSubs = command.name === 'sys/SetRights@1' && value.holder === `cell:society/Entity@1/${ids.sub}`;
          return isSubs
            ? { command: { name: command.name, value: { ...value, exercise: { may: {} } } } as never }
            : undefined;
        }),
        ['rights_above_maker'],
      ],
      ['a version too many', hot('written', { version: 9 }), ['chain_broken']],
      ['a session too many', hot('written', { session_count: 1 }), ['chain_broken']],
      ['another link', hot('opened', { chain_hash: 'f'.repeat(64) }), ['link_forged']],
      [
        'another name in the hot context',
        stating('event', 'society/OpenL1@1', ({ parent_entity_id }) =>
          parent_entity_id === 'ann' ? { identity: { display_name: 'Else', public_key: null } } : undefined,
        ),
        ['link_forged'],
      ],
      [
        'a status from nowhere',
        changed('society/StatusChanged@1', ({ new: to }) => (to === 'suspended' ? { old: 'registered' } : undefined)),
        ['status_broken'],
      ],
      [
        'an agent that acts after its end',
        changed('society/StatusChanged@1', ({ new: to }) => (to === 'active' ? { new: 'deactivated' } : undefined)),
        ['acted_after_end', 'status_broken'],
      ],
      [
        'a session that acts after the end of its agent',
        both(
          changed('society/StatusChanged@1', ({ new: to }) => (to === 'active' ? { new: 'deactivated' } : undefined)),
          changing('effect', ({ plan: [, by, n] }) =>
            by === ids.bot ? { plan: [SESSION_REDUCER, `${ids.bot}/late`, n] } : undefined,
          ),
        ),
        ['acted_after_end', 'status_broken'],
      ],
    ];
    const seen = [];
    for (const [what, forge] of cases) seen.push([what, await codesOf(await forgedCopy(store, forge))]);
    expect(seen).toEqual(cases.map(([what, , codes]) => [what, codes]));
  });

  it('a frame that does not belong to the chain is no report but an error [SOC-54]', async () => {
    const { store } = await life;
    const copy = await forgedCopy(store, undefined, memory(), (head, seq) => (seq === 3 ? 'f'.repeat(64) : head));
    await expect(reportOf(copy)).rejects.toMatchObject({ code: 'journal_damaged', details: { seq: 3 } });
  });
});

/** A society whose adapter finds every proof good. */
function credulous(): WorldPart<Society> {
  const honest = society();
  return {
    ...honest,
    adapters: (host) =>
      (honest.adapters?.(host) ?? []).map((one) => {
        if (one.name !== 'identity.verify') return one;
        const verdict = async () => ({ verified: true, world: (await host.world).kernel.id, refused: null });
        return { ...one, doExecute: async () => ({ status: 'ok', payload: await verdict() }) } as never;
      }),
  };
}

/** The events that the forger sends, which no code of this package takes from it. */
const FORGED = ['society/Make@1', 'society/Start@1'];

describe('an audit of a world that forges', () => {
  it('an adapter that finds every proof good is found out by the signatures [SOC-9, SOC-54]', async () => {
    const store = memory();
    const part = credulous();
    const world = await openWorld({ store, clock: new VirtualClock(), models: { main: script() }, parts: [part] });
    const ann = await world.part(part).human('ann');
    const public_key = base64Of(makePair().publicKey);
    const stolen = { publicKey: public_key, proof: `${'A'.repeat(86)}==` };
    await ann.register({ agentType: 'custom', displayName: 'Thief', capabilities: {}, ...stolen });
    await world.close();
    expect(await codesOf(store)).toEqual(['key_not_proved', 'verdict_forged']);
  });

  it('an agent that a cell of an app makes, under code that checks no sender, is found out: by its maker, its key and its rights, and so is a key for nobody [SOC-4, SOC-8, SOC-54]', async () => {
    const store = memory();
    const honest = society();
    const part = { ...honest, reducers: (honest.reducers ?? []).map((one) => openTo(one, FORGED)) };
    const clock = new VirtualClock();
    const world = await openWorld({ store, clock, models: { main: script() }, parts: [part, forgery] });
    await world.part(part).human('ann');
    const public_key = base64Of(makePair().publicKey);
    const agent_id = agentIdOfKey(public_key);
    const record = {
      ...{
        agent_id,
        agent_type: 'custom',
        display_name: 'False',
        parent_entity_id: 'ann',
        lineage: ['ann'],
        depth: 1,
        public_key,
      },
      ...{ key_ref: null, declared: {}, granted: null, trust_floor: 'high', automerge: false, expires_at: null },
      ...{ app: null, grace_ms: 0, swarm_group: null, above: { may: {} }, limits: {} },
    };
    const send = (name: string, value: object) => {
      const event = { name: 'test/Forge@1', value: { to: ['society/Entity@1', agent_id], name, value } };
      return world.kernel.request(['test/Forger@1', 'f'], event);
    };
    await send('society/Make@1', record);
    await send('society/Start@1', {});
    const made = ['began_without_rights', 'key_not_proved', 'parent_forged'];
    await world.kernel.request(['test/Forger@1', 'g'], { name: 'test/StrayKey@1', value: {} });
    await clock.settle();
    await world.close();
    expect(await codesOf(store)).toEqual([...made.slice(0, 2), 'key_without_agent', ...made.slice(2)]);
  });

  it('every code of the list is found by one of these tests', () => {
    expect([...found].sort()).toEqual(Object.keys(AUDIT_PROBLEMS).sort());
  });
});
