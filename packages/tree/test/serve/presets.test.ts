/** Options of external agents for common programs. */
import { describe, expect, it } from 'vitest';
import { externalAgent } from '../../../tools/src/external/index.js';
import { bridge, claude, codex, opencode, program } from '../../src/serve/index.js';

const link = bridge();

describe('options of a bridge', () => {
  it.each([
    [{ tool: () => [] }, 'tool'],
    [{ name: 'a b' }, 'name'],
    [{ tools: [] }, 'tools'],
    [{ world: '' }, 'world'],
    [{ withinMs: 0 }, 'withinMs'],
    [{ onError: 'log' }, 'onError'],
  ])('a wrong option is refused by its name: %j', (options, name) => {
    expect(() => bridge(options as never)).toThrow(new RegExp(`invalid_argument.*${name}`, 's'));
  });
});

describe('presets of programs', () => {
  it('every preset is an external agent, alone and with a bridge', () => {
    for (const given of [undefined, link]) {
      const options = given === undefined ? {} : { bridge: given };
      const all = [
        opencode(options),
        codex({ ...options, name: 'coder' }),
        claude(options),
        program({ name: 'wc', command: ['wc', '-w'], ...options }),
        program({ name: 'own', command: given ? ['own', '--tools={mcp_config}'] : ['own'], ...options }),
      ];
      expect(all.map((one) => externalAgent(one).name)).toEqual(['opencode', 'coder', 'claude', 'wc', 'own']);
      expect(all.map(({ serve }) => serve !== undefined)).toEqual(
        given ? [true, true, true, false, true] : Array(5).fill(false),
      );
      expect(all.every(({ watch }) => (watch !== undefined) === (given !== undefined))).toBe(true);
      expect(new Set(all.map(({ onUnknown, lives }) => `${onUnknown} ${lives}`))).toEqual(new Set(['fail turn']));
    }
  });

  it('Claude Code gets the tools of its bridge alone, a budget, and no permission beyond', () => {
    const { command } = claude({ bridge: link, usd: 1.5 });
    expect(command.join(' ')).toBe(
      'claude -p --output-format json --mcp-config {mcp_config} --strict-mcp-config --allowedTools mcp__tree --max-budget-usd 1.5',
    );
  });

  it.each([
    [
      '{"result":"done","total_cost_usd":0.0123456,"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":7}}',
      { text: 'done', usage: { tokens_in: 115, tokens_out: 7, tokens_cached: 100, micro_money: 12_346 } },
    ],
    ['{"result":"done"}', { text: 'done' }],
    [
      '{"result":"done","total_cost_usd":-1,"usage":{"input_tokens":"many"}}',
      { text: 'done', usage: { tokens_in: 0, tokens_out: 0 } },
    ],
  ])('the answer of Claude Code is read with what it used: %s', (output, expected) => {
    expect(claude().read?.(output)).toEqual(expected);
  });

  it('an error that Claude Code reports fails its turn', () => {
    expect(() => claude().read?.('{"is_error":true,"result":"no credit"}')).toThrow('no credit');
  });
});
