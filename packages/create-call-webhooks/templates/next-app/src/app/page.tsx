export default function Page() {
  return (
    <main>
      <h1>Call webhooks</h1>
      <p>
        Deliveries go to <code>POST /hook</code>. <a href="/health">Health</a>
      </p>
    </main>
  );
}
