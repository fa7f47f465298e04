/** The files of the page: small, and without anything that runs or styles inline. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { pageModule } from '../../../../scripts/lib/inspect-page.js';
import { pageFiles } from '../../src/page/from-source.js';

/** The most bytes that the script and the style have together, compressed. */
const BYTES_MAX = 60 * 1024;

describe('the files of the page', () => {
  it('script and style have at most 60 KiB together, compressed', async () => {
    const { script, style } = await pageFiles();
    expect(script.length).toBeGreaterThan(10_000);
    expect(gzipSync(script).length + gzipSync(style).length).toBeLessThanOrEqual(BYTES_MAX);
  });

  it('the module that the build writes offers the same files', async () => {
    const module = await pageModule();
    const { pageFiles: ready } = await import(`data:text/javascript,${encodeURIComponent(module)}`);
    expect(await ready()).toEqual(await pageFiles());
  });

  it('the HTML has no inline script, no inline style, and names nothing of another server', async () => {
    const { html } = await pageFiles();
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|style=|\son\w+=|https?:/);
  });
});
