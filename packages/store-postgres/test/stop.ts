/** Stops this process as SIGSTOP does: nothing of it runs meanwhile, and its clocks go on. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
