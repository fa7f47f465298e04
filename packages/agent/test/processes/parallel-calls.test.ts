/** Two payments at once, made by a real process over real HTTP, when the run is cancelled and when the process is killed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentProcess, Outside, until } from './outside.js';

const PAY = { say: ['Pay rent and power.', 'message-1'] };

let folder: string;
let outside: Outside;
let open: () => Promise<AgentProcess>;
const opened: AgentProcess[] = [];

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'reprise-payments-'));
  outside = new Outside();
  const url = await outside.start();
  open = async () => {
    const agent = new AgentProcess(path.join(folder, 'world.db'), url);
    opened.push(agent);
    await agent.heard(({ ready }) => ready === true);
    return agent;
  };
});

afterEach(async () => {
  for (const agent of opened.splice(0)) await agent.kill();
  outside.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A process in which both payments have been made, and neither is confirmed. */
async function paying(): Promise<AgentProcess> {
  const agent = await open();
  agent.tell(PAY);
  await until(() => outside.payments.length === 2, 'two payments');
  return agent;
}

/** What the model was last told of each call. */
function results(): string[] {
  return (outside.requests.at(-1) ?? []).flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
}

async function endsWell(agent: AgentProcess): Promise<void> {
  agent.tell({ verify: true });
  expect(await agent.heard(({ verified }) => verified !== undefined)).toEqual([{ verified: true }]);
  expect(outside.payments.toSorted()).toEqual(['pay_power', 'pay_rent']);
  expect(outside.issues).toEqual([]);
}

describe('a process that is killed while it makes two payments', () => {
  it('given a process killed during two unconfirmed payments, neither is repeated, and operator and model read that the outcomes are unknown [TOOL-12]', async () => {
    await (await paying()).kill();
    const again = await open();
    again.tell(PAY); // known by its id: the run that was interrupted
    await again.heard(({ stop }) => stop !== undefined);
    const failed = await again.heard(({ event }) => event === 'tool.failed', 2);
    expect(failed.map(({ tool, kind }) => [tool, kind]).toSorted()).toEqual([
      ['pay_power', 'outcome_unknown'],
      ['pay_rent', 'outcome_unknown'],
    ]);
    expect(results()).toHaveLength(2);
    for (const told of results()) expect(told).toMatch(/The outcome of this call is unknown.*It may have happened/);
    await endsWell(again);
  });

  it('given a payment that was confirmed before the kill, its result is known and only the other is unknown', async () => {
    const agent = await paying();
    outside.confirm('pay_rent');
    await agent.heard(({ event }) => event === 'tool.completed');
    await agent.kill();
    const again = await open();
    again.tell(PAY);
    await again.heard(({ stop }) => stop !== undefined);
    expect(results()[0]).toBe('Paid by pay_rent, number 1.');
    expect(results()[1]).toMatch(/The outcome of this call is unknown/);
    await endsWell(again);
  });
});

describe('a run that is cancelled while it makes two payments', () => {
  it('a run that is cancelled during two payments reports both to the operator and the next prompt: the confirmed one, and that the other may have happened [SES-21]', async () => {
    const agent = await paying();
    agent.tell({ cancel: true });
    expect(await agent.heard(({ stop }) => stop !== undefined)).toEqual([{ stop: { kind: 'Cancelled' } }]);
    agent.tell({ say: ['What was paid?', 'message-2'] });
    await agent.heard(({ stop }) => stop !== undefined, 2);
    expect(results()).toHaveLength(2);
    expect(results()[0]).toBe('The payment was sent; its confirmation was not waited for.');
    expect(results()[1]).toMatch(/This call was interrupted.*It may have happened in part/);
    const [rent] = await agent.heard(({ event }) => event === 'tool.completed');
    const [power] = await agent.heard(({ event }) => event === 'tool.failed');
    expect([rent?.tool, power?.tool, power?.kind]).toEqual(['pay_rent', 'pay_power', 'interrupted']);
    await endsWell(agent);
  });

  it('given a late confirmation, the next prompt has it', async () => {
    const agent = await paying();
    agent.tell({ cancel: true });
    await agent.heard(({ stop }) => stop !== undefined);
    outside.confirm('pay_power');
    await agent.heard(({ event }) => event === 'tool.late');
    agent.tell({ say: ['What was paid?', 'message-2'] });
    await agent.heard(({ stop }) => stop !== undefined, 2);
    const told = outside.requests.at(-1)?.at(-1)?.content ?? '';
    expect(told).toContain('has been answered after all: it did happen.');
    expect(told).toContain('Paid by pay_power, number 1.');
    await endsWell(agent);
  });
});
