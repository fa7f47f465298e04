/**
 * Records the wire bytes of scenarios from a mock provider that we did not write:
 *
 *   npx tsx --conditions=@reprise/source conformance/scenarios/record.ts [--only SCENARIO] [--missing]
 *
 * Needed once for each scenario, and again when it says something else or when requests are meant to change. What was
 * recorded changes with every recording (a provider names its answers at random), so the heads pinned in
 * `conformance/golden` have to be written anew with it: `conformance/scenarios/check.ts --write`.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { LLMock } from '@copilotkit/aimock';
import { memory } from '@reprise/kernel';
import { SCENARIOS } from './index.js';
import { Latch } from './latch.js';
import { speaksLive, teach } from './mock.js';
import { play } from './play.js';
import { PROFILE_NAMES, type ProfileName, WIRE_PROFILES } from './profiles.js';
import { tapeFile } from './run-scenario.js';
import type { Scenario } from './scenario.js';
import { writeTape } from './tape.js';
import { TapeRecorder } from './tape-recorder.js';

async function record(scenario: Scenario, profile: ProfileName): Promise<void> {
  const mock = new LLMock({ port: 0, logLevel: 'silent', chunkSize: 8 });
  await mock.start();
  const held = new Latch();
  teach(mock, scenario.says, held.opened);
  const recorder = new TapeRecorder();
  const client = WIRE_PROFILES[profile].client({ baseUrl: `${mock.url}/v1`, fetch: recorder.fetch });
  const setting = { client, store: memory(), letGo: () => held.open(), speaking: speaksLive };
  const { outcome } = await play(scenario, setting);
  const file = tapeFile(profile, scenario.name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, writeTape(recorder.tape));
  console.log(`${profile} ${scenario.name}: ${recorder.tape.length} exchanges, ${outcome.stop.kind}`);
  void mock.stop(); // it ends when the last idle connection does, seconds later
}

const { values } = parseArgs({ options: { only: { type: 'string' }, missing: { type: 'boolean' } } });
for (const scenario of SCENARIOS) {
  if (values.only !== undefined && values.only !== scenario.name) continue;
  for (const profile of PROFILE_NAMES) {
    if (values.missing === true && existsSync(tapeFile(profile, scenario.name))) continue;
    await record(scenario, profile);
  }
}
process.exit();
