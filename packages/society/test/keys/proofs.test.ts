import { createHash, randomBytes } from 'node:crypto';
import { memory } from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import { openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { bearerTokens } from 'reprise/server';
import { describe, expect, it } from 'vitest';
import { base64Of, makePair, signBytes } from '../../src/adapters/ed25519.js';
import {
  type Entity,
  type KeyVault,
  memoryVault,
  openPrivateKey,
  type Purpose,
  proofBytes,
  type Society,
  society,
} from '../../src/index.js';

interface Stage {
  readonly office: Society;
  readonly ann: Entity;
  readonly world: string;
  readonly keys: KeyVault;
  readonly clock: VirtualClock;
  auth(token: string): Promise<string | undefined>;
}

async function onStage(play: (stage: Stage) => Promise<void>): Promise<void> {
  const clock = new VirtualClock();
  const keys = memoryVault();
  const secret = randomBytes(32).toString('hex');
  const part = society({ keys, tokens: (world) => bearerTokens(world, { secret: 'tokens' }) });
  const options = { store: memory(), clock, models: { main: script() }, parts: [part], secrets: async () => secret };
  await using world = await openWorld(options);
  const office = world.part(part);
  const ann = await office.human('ann');
  const tokens = bearerTokens(world, { secret: 'tokens' });
  const auth = (token: string) => {
    const header = (name: string) => (name === 'authorization' ? `Bearer ${token}` : undefined);
    return tokens.auth({ method: 'POST', url: '/mcp', header });
  };
  await play({ office, ann, world: world.kernel.id, keys, clock, auth });
  expect((await world.verify()).unverified).toBe(0);
}

const bot = { agentType: 'custom', displayName: 'Bot', capabilities: {} } as const;

const sign = async (keys: KeyVault, agent: string, statement: Parameters<typeof proofBytes>[0]) =>
  (await keys.sign(`ed25519.${agent}`, proofBytes(statement))) ?? '';

describe('an agent that proves who it is', () => {
  it('a proof gives a token that names this world, the agent and its end [SOC-9] [SOC-10]', () =>
    onStage(async ({ ann, world, keys, clock, auth }) => {
      const { agent_id } = await ann.register(bot);
      const { nonce } = await ann.challenge(agent_id, 'api');
      const signature = await sign(keys, agent_id, { world, agent: agent_id, nonce, purpose: 'api' });
      const { token = '', verified } = await ann.prove(agent_id, { nonce, signature });
      expect([verified, await auth(token)]).toEqual([true, `cell:society/Entity@1/${agent_id}`]);
      await clock.advance(3_600_001);
      expect(await auth(token)).toBeUndefined();
    }));

  it('a challenge counts once, whatever the verdict was [SOC-9]', () =>
    onStage(async ({ ann, world, keys }) => {
      const { agent_id } = await ann.register(bot);
      const { nonce } = await ann.challenge(agent_id, 'node');
      const signature = await sign(keys, agent_id, { world, agent: agent_id, nonce, purpose: 'node' });
      const proved = await ann.prove(agent_id, { nonce, signature });
      expect(proved).toEqual({ agent_id, verified: true, expires_at: null });
      await expect(ann.prove(agent_id, { nonce, signature })).rejects.toThrow('challenge_expired');
      const again = await ann.challenge(agent_id, 'node');
      const wrong = base64Of(randomBytes(64));
      await expect(ann.prove(agent_id, { nonce: again.nonce, signature: wrong })).rejects.toThrow('signature_invalid');
      const late = await sign(keys, agent_id, { world, agent: agent_id, nonce: again.nonce, purpose: 'node' });
      await expect(ann.prove(agent_id, { nonce: again.nonce, signature: late })).rejects.toThrow('challenge_expired');
    }));

  it('a challenge ends 60 seconds of stamps after it was drawn [SOC-9]', () =>
    onStage(async ({ ann, world, keys, clock }) => {
      const { agent_id } = await ann.register(bot);
      for (const [ms, outcome] of [
        [59_000, 'verified'],
        [60_000, 'challenge_expired'],
      ] as const) {
        const { nonce } = await ann.challenge(agent_id, 'node');
        const signature = await sign(keys, agent_id, { world, agent: agent_id, nonce, purpose: 'node' });
        await clock.advance(ms);
        const proved = await ann.prove(agent_id, { nonce, signature }).then(
          () => 'verified',
          (error: unknown) => /challenge_expired/.exec(String(error))?.[0],
        );
        expect([ms, proved]).toEqual([ms, outcome]);
      }
    }));

  it('a signature for another world, agent, purpose or nonce, and one by another key, is refused [SOC-9] [SOC-10]', () =>
    onStage(async ({ ann, world, keys }) => {
      const { agent_id } = await ann.register(bot);
      const other = await ann.register({ ...bot, displayName: 'Other' });
      const wrong: readonly Partial<Parameters<typeof proofBytes>[0]>[] = [
        { world: 'f'.repeat(64) },
        { agent: other.agent_id },
        { purpose: 'api' },
        { nonce: 'another' },
      ];
      for (const change of wrong) {
        const { nonce } = await ann.challenge(agent_id, 'node');
        const statement = { world, agent: agent_id, nonce, purpose: 'node' as Purpose, ...change };
        const signature = await sign(keys, agent_id, statement);
        await expect(ann.prove(agent_id, { nonce, signature })).rejects.toThrow('signature_invalid');
      }
      const { nonce } = await ann.challenge(agent_id, 'node');
      const statement = { world, agent: agent_id, nonce, purpose: 'node' as const };
      const signature = await sign(keys, other.agent_id, statement);
      await expect(ann.prove(agent_id, { nonce, signature })).rejects.toThrow('signature_invalid');
    }));

  it('an agent that was deactivated gets no challenge, and an entity beside it learns nothing of it', () =>
    onStage(async ({ office, ann }) => {
      const { agent_id } = await ann.register(bot);
      const bob = await office.human('bob');
      await expect(bob.challenge(agent_id, 'api')).rejects.toThrow('agent_unknown');
      await expect(bob.challenge('0'.repeat(64), 'api')).rejects.toThrow('agent_unknown');
      await ann.setStatus(agent_id, 'deactivate');
      await expect(ann.challenge(agent_id, 'api')).rejects.toThrow('agent_not_active');
    }));
});

describe('the key of an agent', () => {
  it('the private key reaches a parent encrypted, and only one that has registered a key for it [SOC-5] [SOC-6]', () =>
    onStage(async ({ ann, keys, world }) => {
      expect((await ann.register(bot)).private_key_encrypted).toBeNull();
      const parent = makePair('x25519');
      await keys.register(world, 'ann', base64Of(parent.publicKey));
      const made = await ann.register({ ...bot, displayName: 'Second' });
      const raw = openPrivateKey(made.private_key_encrypted ?? '', made.public_key, parent);
      expect(signBytes(raw, Buffer.from('x'))).toBe(await keys.sign(made.key_ref ?? '', Buffer.from('x')));
      const digest = createHash('sha256').update(Buffer.from(made.public_key, 'base64')).digest('hex');
      expect(made.agent_id).toBe(digest);
    }));

  it('the private key reaches a parent for the key that it has registered itself, whatever the vault has for it; a key that shares no secrets makes no agent [SOC-5] [SOC-6]', () =>
    onStage(async ({ ann, keys, world }) => {
      const [own, kept] = [makePair('x25519'), makePair('x25519')];
      await keys.register(world, 'ann', base64Of(kept.publicKey));
      await ann.readerKey(base64Of(own.publicKey));
      const made = await ann.register(bot);
      const encrypted = made.private_key_encrypted ?? '';
      const raw = openPrivateKey(encrypted, made.public_key, own);
      expect(signBytes(raw, Buffer.from('x'))).toBe(await keys.sign(made.key_ref ?? '', Buffer.from('x')));
      expect(() => openPrivateKey(encrypted, made.public_key, kept)).toThrow('was not encrypted for this key');
      await expect(ann.readerKey('short')).rejects.toThrow();
      await ann.readerKey(Buffer.alloc(32).toString('base64'));
      await expect(ann.register({ ...bot, displayName: 'Second' })).rejects.toThrow('key_not_made');
      expect((await ann.agents()).items.map(({ agent_id }) => agent_id)).toEqual([made.agent_id]);
    }));

  it('an agent brings a key of its own with a proof for this parent, and without one it is not made [SOC-6]', () =>
    onStage(async ({ ann, office, world }) => {
      const pair = makePair();
      const public_key = base64Of(pair.publicKey);
      const agent = createHash('sha256').update(pair.publicKey).digest('hex');
      const proofFor = (parent: string) =>
        signBytes(pair.privateKey, proofBytes({ world, agent, nonce: parent, purpose: 'register' }));
      await expect(ann.register({ ...bot, publicKey: public_key })).rejects.toThrow('key_without_proof');
      await expect(ann.register({ ...bot, publicKey: public_key, proof: proofFor('bob') })).rejects.toThrow(
        'key_not_made',
      );
      expect(await office.entity(agent).state()).toBeUndefined();
      const made = await ann.register({ ...bot, publicKey: public_key, proof: proofFor('ann') });
      expect([made.agent_id, made.key_ref, made.private_key_encrypted]).toEqual([agent, undefined, null]);
      await expect(ann.register({ ...bot, publicKey: public_key, proof: proofFor('ann') })).rejects.toThrow(
        'agent_exists',
      );
      expect((await ann.agents()).items.map(({ agent_id }) => agent_id)).toEqual([agent]);
    }));

  it('the key of an agent is destroyed when its time of grace is over [SOC-38]', () =>
    onStage(async ({ ann, keys, world, clock }) => {
      const { agent_id, key_ref } = await ann.register(bot);
      await ann.setStatus(agent_id, 'deactivate', { grace: '60s' });
      expect(await keys.list(world)).toEqual([key_ref]);
      await clock.advance(61_000);
      await clock.settle();
      expect(await keys.list(world)).toEqual([]);
    }));
});
