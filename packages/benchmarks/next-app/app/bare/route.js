import { ANSWER, ANSWER_HEADERS, collected } from '../../../dist/esm/http/answer.js';

/** A route handler that collects the body and answers. */
export async function POST(request) {
  collected(await request.arrayBuffer());
  return new Response(ANSWER, { headers: ANSWER_HEADERS });
}
