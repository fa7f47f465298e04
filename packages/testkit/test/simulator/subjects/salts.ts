import type { SimulationRun } from '@reprise/testkit/simulator';

/** Salts of texts come from the platform; here each run draws them, so that the same seed gives the same journal. */
export function drawSalts(random: SimulationRun['random']): void {
  globalThis.crypto.getRandomValues = (array) => {
    const { buffer, byteOffset, byteLength } = array as unknown as Uint8Array;
    new Uint8Array(buffer, byteOffset, byteLength).set(random(byteLength));
    return array;
  };
}
