"use strict";

// The page sends real requests and shows what the server saw of them. What is
// shown comes from the server alone, as server-sent events.

const retryDelay = 1300; // ms; longer than the shop needs to come back
const maxRetries = 6;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const part = (piece, name) => piece.querySelector(`[data-part="${name}"]`);
const storyOf = (lane) => lane.closest(".story").dataset.story;
const orderOf = (lane) => part(lane, "order").dataset;

// requestOf is what a lane's button sends: a payment under a key, a member's vote
// without any, or the wish that the provider deliver its event.
function requestOf(lane, order) {
  const { side } = lane.dataset;
  const json = { "Content-Type": "application/json" };
  switch (storyOf(lane)) {
    case "vote-stuffing":
      return { url: `/${side}/votes`, headers: { ...json, "Authorization": `Bearer ${order.key}` }, body: JSON.stringify({ tea: "Tieguanyin" }) };
    case "webhook-twice":
      return { url: "/provider/deliver", headers: {}, body: new URLSearchParams({ side, event: order.key, order: order.order }) };
  }
  return {
    url: `/${side}/charges`,
    headers: { ...json, "Authorization": document.body.dataset.credential, "Idempotency-Key": order.key },
    body: JSON.stringify({ order: order.order, customer: "Lin Mei", item: "Tea set", amount: 29900 }),
  };
}

// post asks the page's own server; whether it still listens, the events tell.
const post = (url, body) => fetch(url, { method: "POST", body }).catch(() => Response.error());

// send makes one request and returns the status, or 0 where no answer came.
async function send(lane, order, fault) {
  const { url, headers, body } = requestOf(lane, order);
  if (fault) Object.assign(headers, { "Demo-Fault": fault, "Demo-Attempt": crypto.randomUUID() });
  try {
    const answer = await fetch(url, { method: "POST", headers, body });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

// pay sends the order. Where a story has a fault, it meets the first request of
// the order, and the client does what clients do: it retries with the same key
// after silence or a server's error.
const started = new Set(); // keys

async function pay(lane) {
  const order = { ...orderOf(lane) };
  const first = order.sent === "0" && !started.has(order.key);
  started.add(order.key);
  let status = await send(lane, order, first ? order.fault : "");
  for (let n = 0; order.fault && n < maxRetries && (status === 0 || status >= 500); n++) {
    await pause(retryDelay);
    if (orderOf(lane).key !== order.key) return; // begun anew meanwhile
    status = await send(lane, order, "");
  }
}

// playBoth tells a story on both sides at once. The one shop can die only for one
// side at a time: its death cuts every request that is under way.
async function playBoth(story) {
  const { story: name } = story.dataset;
  const clicks = { "double-click": 2, "vote-stuffing": 8 }[name] ?? 1;
  for (const lane of story.querySelectorAll(".lane")) {
    const paid = pay(lane);
    for (let n = 1; n < clicks; n++) pay(lane);
    if (name === "dead-shop") await paid;
  }
}

// tryOut makes the server send a trial's raw requests, which no browser would.
function tryOut(trial) {
  post(`/trials/${trial.dataset.trial}`, trial.querySelector("textarea")?.value);
}

// play makes the server play one way of a scheme: all who act in it are there.
const play = (way) => post(`/schemes/${way.closest(".story").dataset.scheme}/${way.dataset.way}`);

function tryAll() {
  for (const trial of document.querySelectorAll(".trial")) if (trial.dataset.trial !== "own") tryOut(trial);
}

// resolve asks the operator, again if the shop whose books it needs is still down.
async function resolve(lane) {
  const body = new URLSearchParams({ key: orderOf(lane).key });
  for (let n = 0; n < maxRetries; n++) {
    const answer = await post("/operator/resolve", body);
    if (answer.ok) return;
    await pause(retryDelay);
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const lane = button.closest(".lane");
  if ("pay" in button.dataset) pay(lane);
  if ("resolve" in button.dataset) resolve(lane);
  if ("play" in button.dataset) play(lane);
  if ("ways" in button.dataset) button.closest(".story").querySelectorAll(".lane").forEach(play);
  if ("both" in button.dataset) playBoth(button.closest(".story"));
  if ("try" in button.dataset) {
    const trial = button.closest(".trial");
    part(trial, "wire").open = true;
    tryOut(trial);
  }
  if ("all" in button.dataset) tryAll();
  if (button.id === "reset") post("/reset");
});

// update brings one part of a piece to what the server rendered, and touches
// nothing that is right already: focus, animations and screen readers depend on it.
function update(old, fresh) {
  for (const name of new Set([...old.getAttributeNames(), ...fresh.getAttributeNames()])) {
    if (name === "open") continue; // is the reader's
    const value = fresh.getAttribute(name);
    if (value === null) old.removeAttribute(name);
    else if (value !== old.getAttribute(name)) old.setAttribute(name, value);
  }
  if ("each" in fresh.dataset) return updateEach(old, fresh);
  if (old.innerHTML !== fresh.innerHTML) old.innerHTML = fresh.innerHTML;
}

function updateEach(old, fresh) {
  [...fresh.children].forEach((row, i) => {
    if (!old.children[i]) old.append(row.cloneNode(true));
    else if (old.children[i].outerHTML !== row.outerHTML) old.children[i].replaceWith(row.cloneNode(true));
  });
  while (old.children.length > fresh.children.length) old.lastElementChild.remove();
}

const events = new EventSource(`/events?lang=${document.documentElement.lang}`);
const offline = document.getElementById("offline");

events.addEventListener("piece", (event) => {
  const { id, html } = JSON.parse(event.data);
  const template = document.createElement("template");
  template.innerHTML = html;
  const piece = document.getElementById(id);
  for (const fresh of template.content.querySelectorAll("[data-part]")) update(part(piece, fresh.dataset.part), fresh);
});
events.addEventListener("open", () => { offline.hidden = true; });
events.addEventListener("error", () => { offline.hidden = false; });
