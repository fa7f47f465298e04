/** Lets pending input arrive: waits one turn of the process's event loop. */
export function macrotask(): Promise<void> {
  return new Promise(inNextTurn);
}

/** Calls something in the next turn of the process's event loop. */
export function inNextTurn(call: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(call);
  else setTimeout(call, 0);
}
