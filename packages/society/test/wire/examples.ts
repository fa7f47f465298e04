/** Calls and answers of each tool; where the specification that this layer implements gives one, its own fields. */
import type { SocietyToolName } from '../../src/pure/index.js';

const AGENT = 'a1b2c3'.padEnd(64, '0');
const AT = '2026-01-31T16:00:00.000Z';
const DIGEST = 'd'.repeat(64);

/** Capabilities with every field. */
export const CAPABILITIES = {
  memory_read: { layers: ['l1', 'l2'], groups: ['seed-drill', 'swarm-*'], visibility: ['private', 'group'] },
  memory_write: { layers: ['l1', 'l2'], groups: ['seed-drill'], visibility: ['private', 'group'] },
  tools: ['memory_read_hot', 'memory_write_hot', 'memory_search'],
  max_parallel_ops: 5,
  ttl_seconds: 3600,
  autonomous: false,
};

/** A manifest with every field. */
export const MANIFEST = {
  swarm_id: 'swarm-research-2026-01-31',
  goal: 'Research competitive landscape and synthesize findings',
  group_id: 'swarm-research-2026-01-31',
  coordinator_agent_id: AGENT,
  strategy: 'hierarchical',
  agents: [
    { slot: 'researcher', agent_type: 'swarm-worker', capabilities: CAPABILITIES, count: 3 },
    { slot: 'synthesizer', agent_type: 'swarm-worker', capabilities: CAPABILITIES, count: 1 },
  ],
  culture: {
    broadcast_eagerness: 'chatty',
    ttl_default: 86400,
    notification_policy: 'push',
    departure_policy: 'permissive',
  },
};

const EVENT = {
  event: 'memory.written',
  payload: { item_id: 'group:seed-drill#1', type: 'entity', group_id: 'seed-drill' },
  timestamp: '2026-01-31T16:00:00Z',
};

const HOT = {
  version: 1,
  updated_at: AT,
  identity: {},
  active: {},
  prefs: {},
  delegation: {},
  ephemeral: {},
  agent: {
    parent_entity_id: 'russell_wing',
    agent_type: 'claude-code',
    capabilities: CAPABILITIES,
    task: { goal: 'Implement feature X', context: ['file1.ts', 'file2.ts'], progress: 0.6, findings: [] },
    working_memory: {},
    event_queue: [EVENT],
  },
  chain_hash: DIGEST,
  session_count: 2,
};

const ITEM = {
  item_id: 'group:seed-drill#12',
  type: 'session',
  state: 'live',
  content: 'Agent Russell final state',
  author: AGENT,
  confidence: 0.8,
  subject_key: 'api.limits',
  created_at: AT,
  expires_at: null,
};

const RESULT = {
  task: 1,
  agent_id: AGENT,
  slot: 'researcher',
  status: 'failed',
  code: 'timeout',
  summary: 'found',
  next_from: 1000,
  ref: 'sha256:1',
};

/** An example of the arguments and of the answer of each tool. */
export const EXAMPLES: Readonly<Record<SocietyToolName, { readonly input: object; readonly output: object }>> = {
  agent_register: {
    input: {
      parent_entity_id: 'russell_wing',
      agent_type: 'claude-code',
      display_name: "Russell's Claude Code Session",
      capabilities: CAPABILITIES,
      subscriptions: [{ event: 'memory.written', group_id: 'seed-drill' }],
      trust_floor: 'low',
      automerge: false,
      command_id: 'c1',
    },
    output: {
      agent_id: AGENT,
      public_key: 'base64',
      private_key_encrypted: 'base64',
      key_ref: 'vault:1',
      status: 'registered',
      capabilities: CAPABILITIES,
      expires_at: AT,
    },
  },
  agent_deactivate: {
    input: { agent_id: AGENT, reason: 'done', grace_seconds: 604_800 },
    output: {
      agent_id: AGENT,
      status: 'deactivated',
      grace_until: AT,
      archive_item_id: `agent-archive-${AGENT}-2026`,
      cell: 'failed',
      code: 'reducer_threw',
    },
  },
  agent_list: {
    input: { entity_id: 'russell_wing', status: ['active'], agent_type: 'custom', after: AGENT, limit: 10 },
    output: {
      agents: [
        {
          agent_id: AGENT,
          parent_entity_id: 'russell_wing',
          agent_type: 'claude-code',
          display_name: "Russell's Claude Code Session",
          created_at: AT,
          public_key: 'base64',
          status: 'active',
        },
      ],
      next: AGENT,
    },
  },
  agent_capabilities: {
    input: {
      agent_id: AGENT,
      capabilities: { tools: null, memory_read: CAPABILITIES.memory_read },
      bonus_groups: ['seed-drill'],
      expected_revision: 3,
    },
    output: {
      agent_id: AGENT,
      declared: CAPABILITIES,
      effective: CAPABILITIES,
      limited_by: [{ ancestor: 'russell_wing', dimension: 'tools' }],
      revision: 4,
      refused_subscriptions: [],
      status: 'active',
      cell: 'failed',
      code: 'reducer_threw',
    },
  },
  agent_reader_key: {
    input: { public_key: 'hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=', command_id: 'c3' },
    output: { entity_id: 'russell_wing', public_key: 'hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=' },
  },
  agent_set_status: {
    input: { agent_id: AGENT, to: 'reactivate', ttl_seconds: 60, reason: 'again' },
    output: {
      agent_id: AGENT,
      status: 'active',
      reason: 'asked',
      expires_at: AT,
      cell: 'failed',
      code: 'reducer_threw',
    },
  },
  swarm_create: {
    input: MANIFEST,
    output: {
      swarm_id: 'swarm-research-2026-01-31',
      group_id: 'swarm-research-2026-01-31',
      status: 'registering',
      agents: [{ slot: 'researcher', index: 0, agent_id: AGENT }],
    },
  },
  swarm_status: {
    input: { swarm_id: 'swarm-research-2026-01-31', after: 'r3', limit: 10, task: 4, from: 0 },
    output: {
      swarm_id: 'swarm-research-2026-01-31',
      status: 'executing',
      strategy: 'hierarchical',
      goal: 'Research',
      stage: 0,
      agents: [{ slot: 'researcher', agent_id: AGENT, status: 'active', progress: 0.5 }],
      results: [RESULT],
      next: 'r1',
      synthesis: { text: 'Found.', ref: 'sha256:1' },
      code: 'no_results',
      cost_micro_money: 12,
    },
  },
  swarm_disband: {
    input: { swarm_id: 'swarm-research-2026-01-31', mode: 'delete', reason: 'over' },
    output: { swarm_id: 'swarm-research-2026-01-31', status: 'disbanded', deactivated: [AGENT] },
  },
  swarm_task: {
    input: { swarm_id: 's1', action: 'delegate', slot: 'researcher', task: 'Read the folder', after: 'r2', limit: 5 },
    output: { swarm_id: 's1', status: 'executing', reports: [RESULT], waiting: 1, next: 'r1' },
  },
  memory_read_hot: { input: { entity_id: AGENT }, output: HOT },
  memory_write_hot: {
    input: {
      patch: { active: { file: 'a.ts' }, agent: { task: HOT.agent.task, working_memory: null } },
      expected_version: 1,
    },
    output: { version: 2, chain_hash: DIGEST },
  },
  memory_write_warm: {
    input: {
      store: 'group',
      group: 'seed-drill',
      type: 'entity',
      content: 'The API limits bodies to 1 MiB.',
      visibility: 'group',
      confidence: 0.2,
      subject_key: 'api.limits',
      supersedes: 'group:seed-drill#3',
    },
    output: { item_id: 'group:seed-drill#12', state: 'quarantined' },
  },
  memory_read_warm: { input: { group: 'seed-drill', limit: 5 }, output: { items: [ITEM], next: '12' } },
  memory_search: {
    input: { query: 'limits', groups: ['seed-drill'], k: 5 },
    output: {
      items: [{ item_id: ITEM.item_id, score: 1, rank: 3 }],
      texts: [{ store: 'public', text: 'a' }],
      withheld: 1,
    },
  },
  memory_share: {
    input: { item_id: 'private:russell_wing#2', group_id: 'seed-drill' },
    output: { item_id: 'group:seed-drill#13', origin: 'private:russell_wing#2', state: 'live' },
  },
  memory_assess: {
    input: { item_id: 'group:seed-drill#12', verdict: 'right', basis: 'cross_reference', evidence_ref: 'sha256:1' },
    output: {
      agent_id: AGENT,
      observer_entity_id: 'russell_wing',
      accuracy: 0.87,
      score: 0.8,
      observations: 42,
      tier: 'medium',
      window_start: '2026-01-01T00:00:00Z',
      window_end: '2026-01-31T00:00:00Z',
      last_updated: '2026-01-31T16:00:00Z',
    },
  },
  memory_validate: {
    input: { item_id: 'group:seed-drill#12' },
    output: { item_id: 'group:seed-drill#12', state: 'live' },
  },
  agent_challenge: { input: { agent_id: AGENT, purpose: 'return' }, output: { nonce: 'n1', expires_at: AT } },
  agent_prove: {
    input: { agent_id: AGENT, nonce: 'n1', signature: 'c2lnbmF0dXJl' },
    output: { agent_id: AGENT, verified: true, token: 't', expires_at: AT },
  },
  agent_return: {
    input: {
      agent_id: AGENT,
      nonce: 'n1',
      chain_hash: DIGEST,
      session_count: 4,
      base_hash: DIGEST,
      memories: [{ type: 'entity', content: 'found', group: 'seed-drill', confidence: 0.9, subject_key: 'k' }],
      signature: `${'A'.repeat(86)}==`,
      command_id: 'c1',
    },
    output: {
      staging_group_id: `staging-${AGENT}-1769875200000`,
      divergence: 2,
      conflicts: [{ item: `staging:${AGENT}.1769875200000#1`, with: 'group:seed-drill#2', subject_key: 'k' }],
      items: 1,
      merged: false,
      review: 'usual',
    },
  },
  staging_review: {
    input: {
      staging_group_id: `staging-${AGENT}-1769875200000`,
      decision: 'partial',
      items: [`staging:${AGENT}.1769875200000#1`],
      command_id: 'c1',
    },
    output: {
      staging_group_id: `staging-${AGENT}-1769875200000`,
      copied: ['group:seed-drill#14'],
      rejected: [`staging:${AGENT}.1769875200000#2`],
      refused: [{ item: `staging:${AGENT}.1769875200000#3`, code: 'capability_denied' }],
    },
  },
  events_poll: {
    input: { after: 3, limit: 10 },
    output: { events: [{ n: 4, ...EVENT }], next: 4, dropped: 0 },
  },
  group_emcon: { input: { group_id: 'seed-drill', on: true }, output: { group_id: 'seed-drill', emcon: true } },
};
