/** A program for a page: replays the golden worlds and leaves their results in the page. */
import { GOLDEN_WORLDS, type Golden, pinned, replay } from '../../conformance/golden/worlds.js';
import type { Heads } from './compared.js';

/** The global that the caller reads. */
declare global {
  var heads: Promise<Heads>;
}

globalThis.heads = (async () => {
  const worlds: Record<string, Golden> = {};
  for (const world of GOLDEN_WORLDS) worlds[world.name] = pinned(await replay(world));
  return { zone: Intl.DateTimeFormat().resolvedOptions().timeZone, worlds };
})();
