import { POST } from '../hook/route.ts';

export const dynamic = 'force-dynamic';

/** Whether this process would accept a delivery now. */
export async function GET() {
  const health = await POST.receiver.health();
  return Response.json(health, { status: health.ok ? 200 : 503 });
}
