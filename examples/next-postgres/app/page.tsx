export default function Page() {
  return (
    <main>
      <h1>Call webhooks</h1>
      <p>
        POST to <code>/hook</code>. Whether the store answers: <code>/health</code>.
      </p>
    </main>
  );
}
