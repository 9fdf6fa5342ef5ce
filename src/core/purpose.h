/* What a draw is for: a number of 16 bits in the counter of the generator. In brackets: the elements of a purpose.
 * Since "the same seed gives the same result" holds across versions, numbers are added and never changed. */
#pragma once

typedef enum wb_purpose {
  WB_PURPOSE_CHAIN = 1, /* a chain's key from the seed */

  /* Gaussian mixtures */
  WB_PURPOSE_LABEL = 16,            /* the component of a row [row] */
  WB_PURPOSE_COVARIANCE = 17,       /* Sigma_j [component] */
  WB_PURPOSE_MEAN = 18,             /* mu_j [component] */
  WB_PURPOSE_STICK = 19,            /* v_j [component] */
  WB_PURPOSE_CONCENTRATION = 20,    /* alpha [0] */
  WB_PURPOSE_LABEL_SWAP = 21,       /* exchange of the labels j and j + 1 [component] */
  WB_PURPOSE_PRIOR_MEAN = 22,       /* m [0] */
  WB_PURPOSE_PRIOR_MEAN_SCALE = 23, /* gamma [0] */
  WB_PURPOSE_PRIOR_SCALE = 24,      /* Phi [0] */
  WB_PURPOSE_PRIOR_DF = 25,         /* nu [0] */
  WB_PURPOSE_SUBSAMPLE = 26,        /* rows from which a fit starts [position] */
  WB_PURPOSE_START = 27,            /* centres chosen by k-means++ [centre] */
  WB_PURPOSE_SIMULATION = 28,       /* data drawn from the model [row] */
  WB_PURPOSE_PAIR = 29,             /* which components are paired, and how each pair is split [component] */
  WB_PURPOSE_ANCHOR = 30,           /* rows from which a split starts [row] */
  WB_PURPOSE_HALF = 31,             /* the half of a row, a block for each step [row] */
  WB_PURPOSE_SEARCH = 49,           /* a trial of the search for a start, iteration = its sweep [0] */
  WB_PURPOSE_MISSING = 48,          /* missing values of a row [row] */

  WB_PURPOSE_SAMPLE_TABLES = 32,        /* tables of a component in a sample [sample x components + component] */
  WB_PURPOSE_SAMPLE_STICK = 33,         /* auxiliary variables of a sample [sample] */
  WB_PURPOSE_SAMPLE_CONCENTRATION = 34, /* a [0] */
  WB_PURPOSE_SAMPLE_WEIGHT = 35,        /* pi_s [sample x components + component] */

  /* Sums of discrete random variables */
  WB_PURPOSE_PMF = 64, /* draws of a pmf [position] */

  /* Categorical draws */
  WB_PURPOSE_CATEGORICAL = 80,       /* the first draw of a row, a uniform for each block [row] */
  WB_PURPOSE_CATEGORICAL_MORE = 81,  /* the other draws, a uniform for each [row] */
  WB_PURPOSE_CATEGORICAL_TREES = 82, /* the draw by trees of tests/measure [row] */

  /* Topic models; a pair is a row and a topic, row * topics + topic */
  WB_PURPOSE_TOPIC = 96,                /* the topic of a token [token / 2], one word each */
  WB_PURPOSE_TOPIC_SHARE = 97,          /* theta [document and topic] */
  WB_PURPOSE_TOPIC_TERM = 98,           /* phi [term and topic] */
  WB_PURPOSE_TOPIC_START = 99,          /* the first topic of a token [token] */
  WB_PURPOSE_TOPIC_TABLES = 100,        /* tables of a document above the levels [document and topic] */
  WB_PURPOSE_TOPIC_TERM_TABLES = 101,   /* tables of a term above the levels, or with prior counts [term and topic] */
  WB_PURPOSE_TOPIC_STICK = 102,         /* auxiliary beta of a document, above the levels [document] */
  WB_PURPOSE_TOPIC_TERM_STICK = 103,    /* auxiliary beta of a topic [topic] */
  WB_PURPOSE_TOPIC_ALPHA = 104,         /* alpha [topic] */
  WB_PURPOSE_TOPIC_BETA = 105,          /* beta [0] */
  WB_PURPOSE_TOPIC_SPLIT = 106,         /* halves of a document [document] */
  WB_PURPOSE_TOPIC_COEFFICIENT = 107,   /* coefficients of covariates [topic, or their number: common steps] */
  WB_PURPOSE_TOPIC_WEIGHT = 108,        /* weights of documents for effects on shares [document] */
  WB_PURPOSE_TOPIC_LEVELS = 109,        /* tables of all documents [group and topic] */
  WB_PURPOSE_TOPIC_TERM_LEVELS = 110,   /* tables of all terms [chunk of levels] */
  WB_PURPOSE_TOPIC_STICK_LEVELS = 111,  /* auxiliary betas of all documents [group] */
  WB_PURPOSE_TOPIC_PART = 112,          /* the part of a split topic [token] */
  WB_PURPOSE_TOPIC_CONCENTRATION = 113, /* how many topics are used [0] */
  WB_PURPOSE_TOPIC_MEMBER = 114,        /* the topic of a document that has one [document] */
  WB_PURPOSE_TOPIC_MEMBERS = 115,       /* shares of topics among such documents [topic] */
  WB_PURPOSE_TOPIC_SLICE = 116,         /* slices of alpha [topic, or their number: of the sum] */

  /* Polya-Gamma variables */
  WB_PURPOSE_POLYAGAMMA = 128, /* a variable [position, or row of a regression] */

  /* Regressions */
  WB_PURPOSE_COEFFICIENT = 144,      /* coefficients [outcome] */
  WB_PURPOSE_GROUP_INTERCEPT = 145,  /* intercept of a group [group] */
  WB_PURPOSE_GROUP_SCALE = 146,      /* variance of these intercepts [0] */
  WB_PURPOSE_SHRINKAGE = 147,        /* scales of the horseshoe prior [outcome] */
  WB_PURPOSE_DISPERSION = 148,       /* dispersion of the negative binomial [0] */
  WB_PURPOSE_ELLIPSE = 149,          /* a move after the sweep [move] */
  WB_PURPOSE_ACCEPTANCE = 150,       /* whether a draw by surrogates is taken [draw of the sweep] */
  WB_PURPOSE_TERM_COEFFICIENT = 152, /* coefficients with the effects of a grouping term [term and outcome] */
  WB_PURPOSE_TERM_EFFECT = 153,      /* effects of a level [level, counted over terms and outcomes] */
  WB_PURPOSE_TERM_COVARIANCE = 154,  /* covariance of the effects of a term [term and outcome] */
  WB_PURPOSE_TERM_SHIFT = 155,       /* what nested levels give to theirs [level, counted over terms and outcomes] */
  WB_PURPOSE_TERM_SCALE = 156,       /* factors of effects and covariance of a term, and its root [term and outcome] */
  WB_PURPOSE_SHRINKAGE_MOVE = 157,   /* factors of shrunk coefficients and their scales [outcome] */
  WB_PURPOSE_LEVEL_MOVE = 158,       /* coefficients and covariance with effects [move, counted over terms] */
  WB_PURPOSE_LEVEL_PROPOSAL = 159,   /* proposed effects of a level [level, counted over terms] */
  WB_PURPOSE_BLOCK = 151,            /* variances of blocks of coefficients [draw of the sweep] */
  WB_PURPOSE_ZERO = 168,             /* what completes the data of a row with a regression of zeros [row] */
  WB_PURPOSE_ZERO_KEY = 169,         /* the key of the regression of zeros, iteration = 0 [0] */
  WB_PURPOSE_ZERO_MOVE = 170,        /* a move of both regressions [0] */
  WB_PURPOSE_OUTCOME_SHIFT = 171,    /* shifts of all outcomes: of a column [column], of a level [2^32 + level] */

  /* Predictive resampling */
  WB_PURPOSE_RESAMPLE = 160,        /* coordinates of a step [resample] */
  WB_PURPOSE_RESAMPLE_ROW = 161,    /* covariates of a step [resample] */
  WB_PURPOSE_RESAMPLE_WEIGHT = 162, /* Bayesian bootstrap, iteration = resample [observation] */
  WB_PURPOSE_RESAMPLE_CHAIN = 163,  /* normals of two steps [resample] */
  WB_PURPOSE_RESAMPLE_T = 164,      /* t draw of a step [resample] */
  WB_PURPOSE_RESAMPLE_PLACE = 166,  /* location and scale of a resample, iteration = 0 [resample] */
  WB_PURPOSE_RESAMPLE_ATOM = 167,   /* masses of an urn's limit, iteration = resample [value, or 2^40 + new value] */
  WB_PURPOSE_ORDER = 165,           /* orders of the data, iteration = order [position] */

  /* Numbers of cells by type and sample */
  WB_PURPOSE_ABUNDANCE_LOGIT = 176, /* logit of a share [sample x types + type] */
  WB_PURPOSE_ABUNDANCE_TYPE = 177,  /* coefficients and deviations [type] */
  WB_PURPOSE_ABUNDANCE_SCALE = 178, /* scales of the deviations [0, or 1 of groups] */

  /* The C interface for other packages [the caller's elements] */
  WB_PURPOSE_CALLER = 256,           /* a stream of the caller's */
  WB_PURPOSE_UNIFORM = 257,          /* a uniform */
  WB_PURPOSE_NORMAL = 258,           /* a normal */
  WB_PURPOSE_GAMMA = 259,            /* a gamma */
  WB_PURPOSE_BETA = 260,             /* a beta */
  WB_PURPOSE_DIRICHLET = 261,        /* a Dirichlet vector */
  WB_PURPOSE_EXPONENTIAL = 262,      /* an exponential */
  WB_PURPOSE_GUMBEL = 263,           /* a Gumbel */
  WB_PURPOSE_TRUNCATED_NORMAL = 264, /* a normal between bounds */
  WB_PURPOSE_BINOMIAL = 265,         /* a binomial */
  WB_PURPOSE_MULTINOMIAL = 266,      /* a multinomial vector */
  WB_PURPOSE_NORMAL_VECTOR = 267,    /* a normal vector */
  WB_PURPOSE_WISHART = 268           /* a Wishart matrix */
} wb_purpose;
