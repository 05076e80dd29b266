import { POST } from '../hook/route';

export const dynamic = 'force-dynamic';

export async function GET() {
  const health = await POST.receiver.health();
  return Response.json(health, { status: health.ok ? 200 : 503 });
}
