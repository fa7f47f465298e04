import { createInterface } from 'node:readline';

/**
 * Serves tasks to `subject.mjs`: a line of JSON each way. The process says that it is ready when it is.
 *
 * @param {(task: object) => Promise<object>} execute what is measured; its result is added to the answer
 */
export async function serve(execute) {
  console.log(JSON.stringify({ ready: true }));
  for await (const line of createInterface({ input: process.stdin })) {
    const answer = await execute(JSON.parse(line));
    console.log(JSON.stringify({ ...answer }));
  }
  process.exit(0); // servers and pools of a system would keep the process
}
