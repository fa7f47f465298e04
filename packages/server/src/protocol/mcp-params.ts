/** Params that do not fit their method are the client's mistake; the protocol's library calls most a failure of its own. */
import {
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { fieldsOf } from '@reprise/contracts';
import { parseJson } from '@reprise/contracts/json';

type Handler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>;

/** How much of the problems a client is told. */
const PROBLEMS_MAX = 500;

/** A server of the library that answers params which do not fit with −32602, and says what does not fit. */
export class ParamsServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const wrapped = super._wrapHandler(method, handler);
    return async (request, ctx) => {
      try {
        return await wrapped(request, ctx);
      } catch (error) {
        const problems = problemsIn(error);
        if (problems === undefined) throw error;
        const message = `Invalid params of ${method}: ${problems}`;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message.slice(0, PROBLEMS_MAX));
      }
    };
  }
}

/** What the library's validator lists, in words; undefined for any other error. */
function problemsIn(error: unknown): string | undefined {
  const { message } = fieldsOf(error);
  const [, list] = /^(?:Invalid [a-z/]+ request: )?(\[\s*\{[\s\S]*\}\s*\])$/.exec(String(message)) ?? [];
  if (list === undefined) return undefined;
  try {
    const issues = parseJson(list);
    return Array.isArray(issues) ? issues.map(problemOf).join('; ') : undefined;
  } catch {
    return undefined;
  }
}

function problemOf(issue: unknown): string {
  const { path, message } = fieldsOf(issue);
  return `${Array.isArray(path) ? path.join('.') : ''}: ${message}`;
}
