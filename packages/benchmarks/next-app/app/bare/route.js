import { handle, RESPONSE, RESPONSE_HEADERS } from '../../../dist/esm/http/shared.js';

/** A route handler that collects the body and responds. */
export async function POST(request) {
  handle(await request.arrayBuffer());
  return new Response(RESPONSE, { headers: RESPONSE_HEADERS });
}
