/** The span of another system behind which a request comes, in the format of W3C Trace Context. */
import * as z from '../schema/index.js';

/** A `traceparent`: version 00, the id of a trace, the id of a span, flags. */
export const traceParent = z.string().regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);
