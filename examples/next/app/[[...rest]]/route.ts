// Next's 404 at a mistyped path would pause the rule at once.
export const POST = () => new Response(null, { status: 503 });
