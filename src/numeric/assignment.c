/* The assignment problem by shortest augmenting paths with prices of agents and tasks (Kuhn 1955; Jonker & Volgenant
 * 1987, Computing 38, 325-340). The reduced cost of a pair is its cost less both prices: never negative, and 0 for
 * assigned pairs. Each agent without a task after the first prices costs a search of O(n^2). */
#include "core/rounding.h"

#include "numeric/assignment.h"

#include "core/elementary.h"

typedef struct assignment {
  int32_t n;
  const double *cost;
  double *agent_price, *task_price;
  double *distance;  /* to each task, from the agent that started the search */
  int32_t *task;     /* of each agent; -1: none yet */
  int32_t *agent;    /* of each task; -1: none yet */
  int32_t *previous; /* agent before each task on the shortest path */
  int32_t *open;     /* tasks whose shortest path is not known yet */
} assignment;

size_t wb_assignment_memory(int32_t n) { return (size_t)n * (3 * sizeof(double) + 3 * sizeof(int32_t)); }

static double reduced_cost(const assignment *a, int32_t agent, int32_t task) {
  return a->cost[(size_t)agent * (size_t)a->n + (size_t)task] - a->agent_price[agent] - a->task_price[task];
}

static void set_prices(assignment *a) {
  const int32_t n = a->n;
  for (int32_t t = 0; t < n; t++) a->task_price[t] = wb_infinity();
  for (int32_t i = 0; i < n; i++) {
    const double *cost = a->cost + (size_t)i * (size_t)n;
    double least = cost[0];
    for (int32_t t = 1; t < n; t++) least = cost[t] < least ? cost[t] : least;
    a->agent_price[i] = least;
    for (int32_t t = 0; t < n; t++) {
      const double reduced = cost[t] - least;
      a->task_price[t] = reduced < a->task_price[t] ? reduced : a->task_price[t];
    }
  }
}

/* Gives agents free tasks of reduced cost 0: first each agent's own number, then the first free task. */
static void assign_free_tasks(assignment *a) {
  const int32_t n = a->n;
  for (int32_t i = 0; i < n; i++) a->task[i] = a->agent[i] = -1;
  for (int32_t i = 0; i < n; i++)
    if (reduced_cost(a, i, i) <= 0) a->task[i] = a->agent[i] = i;
  for (int32_t i = 0; i < n; i++)
    for (int32_t t = 0; a->task[i] < 0 && t < n; t++)
      if (a->agent[t] < 0 && reduced_cost(a, i, t) <= 0) {
        a->task[i] = t;
        a->agent[t] = i;
      }
}

static int32_t nearest_open(const assignment *a, int32_t count) {
  int32_t best = 0;
  for (int32_t i = 1; i < count; i++) {
    const int32_t t = a->open[i], b = a->open[best];
    const double difference = a->distance[t] - a->distance[b];
    if (difference > 0) continue;
    const int free_t = a->agent[t] < 0, free_b = a->agent[b] < 0;
    if (difference < 0 || free_t > free_b || (free_t == free_b && t < b)) best = i;
  }
  return best;
}

/* Finds the shortest path from an agent without a task to a free task, and sets prices so that it costs 0. */
static int32_t shortest_path(assignment *a, int32_t start) {
  const int32_t n = a->n;
  int32_t count = n, last = start;
  double reached = 0;
  for (int32_t t = 0; t < n; t++) {
    a->open[t] = t;
    a->distance[t] = wb_infinity();
  }
  for (;;) {
    const double *cost = a->cost + (size_t)last * (size_t)n;
    const double offset = reached - a->agent_price[last];
    for (int32_t i = 0; i < count; i++) {
      const int32_t t = a->open[i];
      const double distance = offset + (cost[t] - a->task_price[t]);
      if (distance < a->distance[t]) {
        a->distance[t] = distance;
        a->previous[t] = last;
      }
    }
    const int32_t at = nearest_open(a, count), nearest = a->open[at];
    a->open[at] = a->open[--count];
    a->open[count] = nearest;
    reached = a->distance[nearest];
    if (a->agent[nearest] < 0) break;
    last = a->agent[nearest];
  }
  a->agent_price[start] += reached;
  for (int32_t i = count + 1; i < n; i++) {
    const int32_t t = a->open[i];
    a->agent_price[a->agent[t]] += reached - a->distance[t];
    a->task_price[t] -= reached - a->distance[t];
  }
  return a->open[count];
}

void wb_assignment_solve(int32_t n, const double *cost, int32_t *task, void *memory) {
  assignment a = {.n = n, .cost = cost, .agent_price = memory, .task = task};
  a.task_price = a.agent_price + n;
  a.distance = a.task_price + n;
  a.agent = (int32_t *)(a.distance + n);
  a.previous = a.agent + n;
  a.open = a.previous + n;
  set_prices(&a);
  assign_free_tasks(&a);
  for (int32_t i = 0; i < n; i++) {
    if (task[i] >= 0) continue;
    int32_t end = shortest_path(&a, i);
    for (int32_t giver = -1; giver != i;) {
      giver = a.previous[end];
      const int32_t given_up = task[giver];
      task[giver] = end;
      a.agent[end] = giver;
      end = given_up;
    }
  }
}
