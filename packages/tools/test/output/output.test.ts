import { describe, expect, it } from 'vitest';
import { callLoudTool, faultsOf, wholeLines } from './loud-tool.js';

const MIB = 1024 * 1024;

describe('the output of a tool that prints much', () => {
  it('the output is stored whole for people, is small and well-formed for the model, and is never in memory as a whole [TOOL-22]', async () => {
    await callLoudTool(wholeLines(24 * MIB)); // the first call loads code and fills the buffers of Node, which is no part of it
    const bytes = wholeLines(48 * MIB);
    const found = await callLoudTool(bytes);
    expect(faultsOf(found, bytes)).toEqual([]);
    expect(found.memoryBytes).toBeLessThan(40 * MIB);
  });

  it('mutant: a tool that decodes each piece separately is found by the same checks', async () => {
    const bytes = wholeLines(2 * MIB);
    const broken = await callLoudTool(bytes, async function* (printed) {
      for await (const piece of printed) yield new TextDecoder().decode(piece);
    });
    expect(faultsOf(broken, bytes)).toContain('the operator does not get what was printed');
  });

  it('mutant: a tool that collects its output exceeds the memory bound [TOOL-22]', async () => {
    const bytes = wholeLines(64 * MIB);
    const gathered = await callLoudTool(bytes, async (printed) => {
      const all: Uint8Array[] = [];
      for await (const piece of printed) all.push(new Uint8Array(piece));
      return new TextDecoder().decode(Buffer.concat(all));
    });
    expect(gathered.memoryBytes).toBeGreaterThan(40 * MIB);
  });
});
