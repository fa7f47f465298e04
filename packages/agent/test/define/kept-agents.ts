/** What a broken build is judged by: an agent whose stored definition was erased is stored again. */
import assert from 'node:assert/strict';
import { getBytes, memory } from '@reprise/kernel';
import { StoredAgents } from '../../src/define/store-agent.js';
import { defineAgent } from '../../src/index.js';

const INSTRUCTIONS = 'Work with care.';

/** Holds kept definitions to what the store has. @throws Error when a definition names content that was erased */
export async function holdStoredAgents(): Promise<void> {
  const { content } = await memory().open();
  const agent = defineAgent({ name: 'worker', model: 'main', instructions: INSTRUCTIONS });
  const agents = new StoredAgents(content, { main: {} });
  const first = await agents.of(agent);
  assert.equal(await agents.of(agent), first, 'a definition that the store has is not stored again');
  const { system_ref } = first.config;
  await content.erase([system_ref], 1);
  const { config } = await agents.of(agent);
  const text = new TextDecoder().decode(await getBytes(content, config.system_ref));
  assert.ok(text.includes(INSTRUCTIONS), 'the instructions of a definition are stored again after an erasure');
}
