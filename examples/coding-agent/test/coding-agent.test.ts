/** The coding agent as a person or a script uses it: a real process, a real folder, real tests in it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readArguments } from '../src/arguments.js';
import { acts, drive, place, SLOW_TEST, verified } from './driven.js';
import { modelServer } from './terminal/model-server.js';

/** The choices of a question: they are printed when it can be decided. */
const ASKED = '[y]es  [n]o';
const TASK = 'Fix the failing test.';
const FIXED = 'return total(items) >= 5000 ? 0 : 490;';
const WRONG = 'return total(items) > 5000 ? 0 : 490;';

const source = (folder: string) => readFileSync(path.join(folder, 'src/cart.js'), 'utf8');

async function fileAt(file: string): Promise<void> {
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 50));
}

describe('for a script', () => {
  it('the agent does a task, prints the answer alone, and does not repeat the task under the same id', async () => {
    const { folder, worlds, at } = await place();
    const first = await drive(...at, '--print', TASK, '--yes', '--id', 'job-1').ended;
    expect(first.code).toBe(0);
    expect(first.out).toMatch(/^All 3 tests pass\. src\/cart\.js had one mistake/);
    expect(first.err.split('\n', 1)).toEqual([`The conversation is kept in ${path.join(worlds, '1.db')}.`]);
    expect(first.err).toContain('● edit  src/cart.js');
    expect(source(folder)).toContain(FIXED);
    const { head } = await verified(worlds);

    writeFileSync(path.join(folder, 'src/cart.js'), 'changed since\n');
    const again = await drive(...at, '--print', TASK, '--yes', '--id', 'job-1').ended;
    expect(again).toMatchObject({ code: 0, out: first.out });
    expect(source(folder)).toBe('changed since\n');
    expect((await verified(worlds)).head).toEqual(head); // not one frame more
    const program = { kind: 'program', id: 'coding-agent --print' };
    const own = await acts(worlds);
    expect(new Set(own.map(([what]) => what))).toEqual(new Set(['message', 'decision']));
    for (const [, by, actor] of own) expect({ by, actor }).toEqual({ by: 'operator', actor: program });
  });

  it('without a person to approve it a call is refused, the model reads why, and the agent exits with 4', async () => {
    const { folder, at } = await place();
    const { code, out, err } = await drive(...at, '--print', TASK, '--id', 'job-1').ended;
    expect(code).toBe(4);
    expect(out).toContain('No person is available to approve this.');
    expect(err).toContain('not done: refused');
    expect(err).toMatch(/refused, because no person was here to approve; --yes approves all calls\.\n$/);
    expect(await drive(...at, '--print', TASK, '--id', 'job-1').ended).toMatchObject({ code: 4, out });
    expect(source(folder)).toContain(WRONG);
  });

  it('a task that would wait behind an approval of an earlier run is not sent, and the agent exits with 3', async () => {
    const { worlds, at } = await place();
    const first = drive(...at);
    first.type(TASK);
    await first.until(ASKED);
    first.end();
    expect((await first.ended).code).toBe(0);
    const before = await verified(worlds);
    const { code, out, err } = await drive(...at, '--print', 'Another task.', '--yes').ended;
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain('An earlier run of this conversation waits for a person: run  node --test');
    expect(err).toContain('Start the agent here without --print to decide, or give --new');
    expect((await verified(worlds)).head).toEqual(before.head);
    const apart = await drive(...at, '--print', 'What is here?', '--new').ended;
    expect(apart.code).toBe(0);
    expect(apart.out).toContain('- src/cart.js');
  });

  it('--new pauses a conversation that is not over and says how it goes on: it calls no model while nobody watches it', async () => {
    const { at } = await place();
    const reads = { calls: [{ tool: 'read_file', args: { path: 'src/cart.js' } }] };
    const model = await modelServer(reads, reads, { text: 'Fresh answer.' });
    const first = drive(...at, ...model.at);
    first.type('Old task.');
    await first.until('read', 1);
    first.signal('SIGKILL');
    await first.ended;
    const before = model.bodies.length;
    const second = drive(...at, ...model.at, '--new');
    expect(await second.until('--conversation main')).toContain('Conversation main is not over. It is paused');
    second.type('New question.');
    await second.until('Fresh answer.');
    second.end();
    expect((await second.ended).code).toBe(0);
    const old = model.bodies.slice(before).filter((body) => body.includes('Old task.'));
    expect(old.length).toBeLessThanOrEqual(1); // the call that was interrupted
    const third = drive(...at, ...model.at, '--conversation', 'main');
    third.type('/log');
    third.end();
    const gone = await third.ended;
    expect(gone.code).toBe(0);
    expect(gone.out).toContain('conversation main');
    expect(gone.out).toContain('Old task.');
    expect(gone.out).not.toContain('It is paused');
  });

  it('a failed model call is explained in the words of its provider, and the agent exits with 1', async () => {
    const { at } = await place();
    const model = await modelServer({ status: 401, text: 'Incorrect API key provided' });
    const { code, out, err } = await drive(...at, ...model.at, '--print', TASK).ended;
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(
      'failed: Incorrect API key provided (127.0.0.1, status 401) [provider_error_terminal/auth]. Check',
    );
  });

  it('the agent explains wrong arguments and exits with 2', async () => {
    const { folder } = await place();
    const cases = [
      [['--nonsense'], "Unknown option '--nonsense'"],
      [[path.join(folder, 'no')], 'is not a folder.'],
      [[folder, '--worlds', path.join(folder, 'w'), '--model', 'some-model'], 'set OPENAI_API_KEY, or give --base-url'],
    ] as const;
    for (const [args, told] of cases) {
      const { code, err } = await drive(...args).ended;
      expect({ args, code }).toEqual({ args, code: 2 });
      expect(err).toContain(told);
      expect(err).not.toMatch(/^\s+at /m);
    }
    expect(() => readArguments(['a', 'b'], '/')).toThrow('one FOLDER, not 2: a b');
    expect(() => readArguments(['--base-url', 'x'], '/')).toThrow('--base-url is not an http address: x');
    expect(() => readArguments(['--yes'], '/')).toThrow('--yes and --id belong to --print');
    expect(() => readArguments(['--print', ' '], '/')).toThrow('--print wants a task');
  });
});

describe('for a person', () => {
  it('the agent asks before it runs and writes, accepts messages while it works, and explains a question', async () => {
    const { folder, worlds, at } = await place();
    const agent = drive(...at);
    await agent.until('/help says what you can type');
    agent.type(TASK);
    await agent.until('● run  node --test');
    await agent.until(ASKED);
    expect(source(folder)).toContain(WRONG);
    agent.type('Also add a comment "The bound counts as well."'); // it waits for a decision, and this line is not one
    await agent.until('it reads that before its next step');
    agent.type('a');
    await agent.until('From now on allowed in this folder: exactly `node --test --test-reporter=tap`');
    await agent.until('(it has read what you said)');
    await agent.until(`-   ${WRONG}`);
    await agent.until(ASKED, 2);
    agent.type('y');
    await agent.until('They pass. I add the comment that you asked for.');
    await agent.until(ASKED, 3);
    agent.type('y');
    await agent.until('✓ done');
    expect(source(folder)).toContain(`  // The bound counts as well.\n  ${FIXED}`);

    agent.type('/why src/cart.js');
    const why = await agent.until('and to what you said meanwhile');
    expect(why).toContain('approved by you');
    expect(why).toContain('because the model said so in step');
    expect(why).toMatch(/in answer to your words, frame \d+: "Fix the failing test\."/);
    expect(why).toMatch(/and to what you said meanwhile, frame \d+: "Also add a comment "The bound counts as well\.""/);
    agent.type('/status');
    await agent.until('allowed without a question: exactly `node --test');
    agent.type('/allowed drop 1');
    await agent.until('you are asked again about exactly `node --test');
    agent.type('/allowed');
    await agent.until('Nothing is allowed without a question');
    agent.type('/verify');
    await agent.until('replayed, all equal');
    agent.type('/quit');
    expect(await agent.ended).toMatchObject({ code: 0, err: '' });
    expect((await verified(worlds)).unverified).toBe(0);
    // What the person decided is the person's, and what "always" decided is the rule's, though with the person's rights.
    const id = 'always:exactly `node --test --test-reporter=tap`';
    expect(await acts(worlds)).toEqual([
      ['message', 'human:you', { kind: 'person', id: 'you' }],
      ['message', 'human:you', { kind: 'person', id: 'you' }],
      ['decision', 'human:you', { kind: 'person', id: 'you' }],
      ['decision', 'human:you', { kind: 'person', id: 'you' }],
      ['decision', 'human:you', { kind: 'rule', id, granted_by: 'you' }],
      ['decision', 'human:you', { kind: 'person', id: 'you' }],
      ['decision', 'human:you', { kind: 'rule', id, granted_by: 'you' }],
    ]);
  });

  it('the agent accepts a refusal with its reason and changed arguments, and reports an invalid answer', async () => {
    const { folder, at } = await place();
    const agent = drive(...at);
    agent.type(TASK);
    await agent.until(ASKED);
    agent.type('e {"argv":');
    await agent.until('this is not JSON');
    agent.type('e {"program":"node"}');
    await agent.until('(changed by you)');
    await agent.until(ASKED, 2);
    agent.type('y');
    await agent.until('run_process does not take that');
    await agent.until(ASKED, 3);
    agent.type('e');
    await agent.until('The arguments now: {"argv":["node","--test"');
    agent.type('{"argv":["node","--test","--test-reporter=tap","test/"]}');
    await agent.until(ASKED, 4);
    agent.type('y');
    await agent.until(ASKED, 5);
    agent.type('n: leave the code alone');
    await agent.until('You did not want this edit ("leave the code alone")');
    await agent.until('✓ done');
    expect(source(folder)).toContain(WRONG);
    agent.type('/nonsense');
    await agent.until('there is no /nonsense; /help lists what there is');
    agent.type('/fork nowhere');
    await agent.until('/fork, /fork NUMBER of a message (see /log), or /fork @FRAME');
    agent.type('/model');
    await agent.until('the model is embedded');
    agent.type('/model nobody-has-this');
    await agent.until('set OPENAI_API_KEY, or give --base-url');
    agent.type('/help');
    await agent.until('Ctrl-C clears what is typed, then stops the run, then leaves.');
    agent.end();
    expect(await agent.ended).toMatchObject({ code: 0, err: '' });
  });

  it('a call stays waiting when the input ends, and the next start asks again', async () => {
    const { at } = await place();
    const first = drive(...at);
    first.type(TASK);
    first.end();
    expect(await first.ended).toMatchObject({ code: 0 });
    expect(first.out()).toContain('This waits for you: start me again to decide.');
    const second = drive(...at);
    await second.until('The last run is not over.');
    await second.until(ASKED);
    second.type('n');
    await second.until('✓ done');
    second.end();
    expect((await second.ended).code).toBe(0);
  });

  it('the agent stops at the first Ctrl-C, continues on request, and exits at the second', async () => {
    const { folder, worlds, at } = await place(SLOW_TEST);
    const agent = drive(...at);
    agent.type(TASK);
    await agent.until(ASKED);
    agent.type('y');
    await fileAt(path.join(folder, 'started.txt'));
    agent.signal('SIGINT');
    await agent.until('■ stopped');
    agent.type('go on');
    await agent.until('The outcome of the last command is unknown, so I run the tests again.');
    await agent.until(ASKED, 2);
    agent.signal('SIGINT');
    await agent.until('■ stopped', 2);
    agent.type('/status');
    await agent.until('Cancelled');
    agent.signal('SIGINT');
    await agent.until('Ctrl-C once more leaves; so does /quit.');
    agent.signal('SIGINT');
    expect((await agent.ended).code).toBe(130);
    expect((await verified(worlds)).unverified).toBe(0);
  });

  it('after a kill inside a call, the next start continues and reports that the outcome is unknown', async () => {
    const { folder, worlds, at } = await place(SLOW_TEST);
    const first = drive(...at);
    first.type(TASK);
    await first.until(ASKED);
    first.type('y');
    await fileAt(path.join(folder, 'started.txt'));
    first.signal('SIGKILL');
    await first.ended;
    writeFileSync(path.join(folder, 'test/slow.test.js'), '');

    const second = drive(...at);
    await second.until('The last run is not over.');
    await second.until('outcome unknown: no answer of this call was recorded, so it may have happened');
    await second.until('so I run the tests again');
    await second.until(ASKED);
    second.type('y');
    await second.until(ASKED, 2);
    second.type('y');
    await second.until(ASKED, 3);
    second.type('y');
    await second.until('✓ done');
    second.end();
    expect((await second.ended).code).toBe(0);
    expect(source(folder)).toContain(FIXED);
    expect((await verified(worlds)).unverified).toBe(0);
  });

  it('a fork before a message restores the files that the agent wrote, and leaves the original world unchanged', async () => {
    const { folder, worlds, at } = await place();
    expect((await drive(...at, '--print', TASK, '--yes').ended).code).toBe(0);
    const before = await verified(worlds);
    const agent = drive(...at);
    await agent.until('There is 1 message before this');
    agent.type('/fork 1');
    await agent.until('src/cart.js would be set back');
    await agent.until('will not be restored: run_process');
    await agent.until('? Set these files back?  [y]es  [n]o; then Enter');
    agent.type('y');
    await agent.until('This is world 2 now');
    expect(source(folder)).toContain(WRONG);
    agent.type('What is here?');
    await agent.until('- src/cart.js');
    await agent.until('✓ done');
    agent.type('/log');
    expect(await agent.until('What is here?  → Completed')).not.toContain('2     ');
    agent.type('/worlds 1');
    await agent.until('the files in the folder are as they were left');
    agent.end();
    await agent.ended;
    expect((await verified(worlds)).head).toEqual(before.head);
    expect((await verified(worlds, 2)).eras.length).toBeGreaterThan(0);
  });
});
