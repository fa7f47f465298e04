/** What the MCP package checks schemas of servers by, in place of its own: that one runs their patterns as they are. */
import type { ClientOptions } from '@modelcontextprotocol/client';
import { jsonSchema } from '@reprise/agent';

type Validator = NonNullable<ClientOptions['jsonSchemaValidator']>;

/** Checks in bounded, linear time; see `jsonSchema`. */
export const linearValidator: Validator = {
  getValidator: <T>(schema: object) => {
    const { validate } = jsonSchema(schema)['~standard'];
    return (input: unknown) => {
      const result = validate(input);
      if (result instanceof Promise) throw new TypeError('a JSON Schema is checked at once');
      if (result.issues === undefined) return { valid: true, data: input as T, errorMessage: undefined };
      const errorMessage = result.issues.map(({ message }) => message).join('; ');
      return { valid: false, data: undefined, errorMessage };
    };
  },
};
