import planner_eval as pe

compute_score = pe.reward(unreadable=-0.1).compute_score
