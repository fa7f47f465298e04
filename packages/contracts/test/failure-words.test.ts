/** Failures in words for a person. */
import { describe, expect, it } from 'vitest';
import { failureWords } from '../src/index.js';

const CODE = 'provider_error_retryable/malformed';
const wordsOf = (body: string) =>
  failureWords(CODE, { name: 'ProviderError', message: `unreadable answer (it is not clear): ${body}` });

describe('the words of a failure', () => {
  it('raw events of a stream that could not be read are left out, whatever they begin with', () => {
    for (const body of [
      'data: {"id":"c1"}\n\ndata: {"br',
      'event: message_start\ndata: {}',
      ': keep-alive\n\ndata: x',
      '\n\nid: 1\ndata:',
    ])
      expect(wordsOf(body)).toMatch(
        /^unreadable answer \(it is not clear\) \[provider_error_retryable\/malformed\]\. Check /,
      );
  });

  it('the beginning of a page in the place of an answer stays, for it shows whose page it is', () => {
    expect(wordsOf('<!doctype html><title>Welcome</title>')).toContain(': <!doctype html><title>Welcome</title> [');
  });
});
