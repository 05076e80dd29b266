import { POST } from '../hook/route';

export const dynamic = 'force-dynamic';

/** Tells a load balancer whether this machine would accept a delivery now. */
export async function GET(): Promise<Response> {
  const health = await POST.receiver.health();
  return Response.json(health, { status: health.ok ? 200 : 503 });
}
