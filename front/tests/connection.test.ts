// The reconnecting socket, tested with a fake WebSocket.

import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { Connection, type ConnectionState } from "../src/transport/connection.ts";
import type { FromServer, ToServer } from "../src/transport/protocol.ts";

class FakeSocket {
  static all: FakeSocket[] = [];
  static refuses = false;
  static get last(): FakeSocket {
    return FakeSocket.all[FakeSocket.all.length - 1];
  }
  readyState = 0;
  binaryType = "blob";
  sent: string[] = [];
  onopen: (() => void) | null = null;
  onclose: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;

  constructor(readonly address: string) {
    if (FakeSocket.refuses) throw new Error("SecurityError");
    FakeSocket.all.push(this);
  }
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {
    this.drop();
  }
  accept(): void {
    this.readyState = 1;
    this.onopen?.();
  }
  drop(): void {
    this.readyState = 3;
    this.onclose?.();
  }
}

const heard = { messages: [] as FromServer[], motions: [] as ArrayBuffer[], states: [] as ConnectionState[] };

function connection(): Connection {
  return new Connection("ws://127.0.0.1:8321/ws", {
    message: (m) => heard.messages.push(m),
    motion: (b) => heard.motions.push(b),
    state: (s) => heard.states.push(s),
  });
}

const run = (id: number): ToServer => ({ type: "run", id, model: "dzhanibekov", values: { spin: id } });

beforeEach(() => {
  FakeSocket.all = [];
  FakeSocket.refuses = false;
  heard.messages = [];
  heard.motions = [];
  heard.states = [];
  (globalThis as { WebSocket: unknown }).WebSocket = FakeSocket;
  mock.timers.enable({ apis: ["setTimeout"] });
});
afterEach(() => mock.timers.reset());

test("text messages are JSON, and binary ones are motions", () => {
  connection();
  FakeSocket.last.accept();
  assert.equal(FakeSocket.last.binaryType, "arraybuffer");
  FakeSocket.last.onmessage?.({ data: '{"type":"cancelled","id":3}' });
  const bytes = new ArrayBuffer(8);
  FakeSocket.last.onmessage?.({ data: bytes });
  assert.deepEqual(heard.messages, [{ type: "cancelled", id: 3 }]);
  assert.equal(heard.motions[0], bytes);
  assert.deepEqual(heard.states, ["connecting", "open"]);
});

test("of the requests made before the socket is open, the latest run and the motion request after it are sent", () => {
  const c = connection();
  c.send(run(1));
  c.send({ type: "motion", id: 2, run: "box" });
  c.send(run(3));
  c.send({ type: "motion", id: 4, run: "t-handle" });
  FakeSocket.last.accept();
  assert.deepEqual(
    FakeSocket.last.sent.map((text) => (JSON.parse(text) as ToServer).id),
    [3, 4],
  );
});

test("what is canceled before it was sent is never sent", () => {
  const c = connection();
  c.send(run(1));
  c.send({ type: "cancel", id: 1 });
  FakeSocket.last.accept();
  assert.deepEqual(FakeSocket.last.sent, []);
});

test("a lost socket reconnects after 0.3, 0.6, 1.2, 2.4, 3 and 3 s, and then sends pending requests at once", () => {
  const c = connection();
  FakeSocket.last.accept();
  FakeSocket.last.drop();
  c.send(run(7));
  for (const wait of [300, 600, 1200, 2400, 3000, 3000]) {
    const before = FakeSocket.all.length;
    mock.timers.tick(wait - 1);
    assert.equal(FakeSocket.all.length, before);
    mock.timers.tick(1);
    assert.equal(FakeSocket.all.length, before + 1);
    if (FakeSocket.all.length < 7) FakeSocket.last.drop();
  }
  FakeSocket.last.accept();
  assert.equal(FakeSocket.last.sent.length, 1);
  assert.equal(heard.states.at(-1), "open");
  FakeSocket.last.drop();
  mock.timers.tick(300);
  assert.equal(FakeSocket.all.length, 8);
});

test("a closed connection does not reconnect", () => {
  const c = connection();
  FakeSocket.last.accept();
  c.close();
  mock.timers.tick(10_000);
  assert.equal(FakeSocket.all.length, 1);
  assert.deepEqual(heard.states, ["connecting", "open"]);
});

test("where no socket may be opened the connection is lost, and retried", () => {
  FakeSocket.refuses = true;
  connection();
  assert.deepEqual(heard.states, ["connecting", "lost"]);
  FakeSocket.refuses = false;
  mock.timers.tick(300);
  FakeSocket.last.accept();
  assert.equal(heard.states.at(-1), "open");
});
