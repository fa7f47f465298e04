import { describe, expect, it } from 'vitest';
import { holdMutations, MUTATED_FORMATS, readerOf } from './mutated-streams.js';
import { FORMATS } from './stream-laws.js';

const RUNS = Number(process.env.MUTATIONS ?? 400);
const SEED = 3_800_000;

describe.each(MUTATED_FORMATS)('mutated answers in %s', (format) => {
  it(`a mutated stream is an answer that a reading of it gives, or a failure with a reason (seed ${SEED}) [MOD-37]`, async () => {
    const { answers, failures, calls } = await holdMutations(readerOf(), format, { runs: RUNS, seed: SEED });
    expect([answers, calls, Object.keys(failures).length].every((count) => count > 0)).toBe(true);
  });
});

describe('mutants of the readers', () => {
  const chat = FORMATS['openai-chat'];

  it('the law of mutated streams finds a reader that makes an answer of nothing', async () => {
    const read = readerOf({
      ...FORMATS,
      'openai-chat': {
        ...chat,
        read: (body, about) => {
          const { wanted: _, ...answer } = chat.read(body, about) ?? { calls: [], finishReason: 'other', warnings: [] };
          return answer;
        },
      },
    });
    await expect(holdMutations(read, 'openai-chat', { runs: 2_000, seed: SEED })).rejects.toThrow('with nothing');
  });

  it('the law of mutated streams finds a reader that rounds the numbers of arguments', async () => {
    const read = readerOf({
      ...FORMATS,
      'openai-chat': {
        ...chat,
        read: (body, about) => {
          const answer = chat.read(body, about);
          const rounded = (args: unknown) =>
            JSON.parse(JSON.stringify(args).replace(/"(\d{16,})"/g, (_, digits) => String(Number(digits))));
          return answer && { ...answer, calls: answer.calls.map((call) => ({ ...call, args: rounded(call.args) })) };
        },
      },
    });
    await expect(holdMutations(read, 'openai-chat', { runs: 2_000, seed: SEED })).rejects.toThrow('no reading gives');
  });

  it('the law of mutated streams finds a reader whose final text is not the one that was shown', async () => {
    const read = readerOf();
    const changes: typeof read = async (format, mutated) => {
      const { judged, shown } = await read(format, mutated);
      return { judged, shown: shown.slice(1) };
    };
    await expect(holdMutations(changes, 'openai-responses', { runs: 200, seed: SEED })).rejects.toThrow('shown');
  });
});
